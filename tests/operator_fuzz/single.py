"""Display of a single call, with its arguments and both outcomes, to find a cause."""

from __future__ import annotations

import sys
from typing import Any

import torch

from .calls import draw_call
from .causes import cause_of
from .child import prepare
from .judge import Difference, compare_devices
from .targets import target_of


def show_call(name: str, seed: str, device: str) -> int:
    """Print call ``OPERATOR:NUMBER``; return 1 if its difference has no cause."""
    prepare()
    operator, number = name.rsplit(":", 1)
    target = target_of(operator)
    call = draw_call(target, target.samples(), seed, int(number))
    torch.set_printoptions(precision=9, threshold=60, edgeitems=2, linewidth=160)
    _say(f"{call.text()}\narguments: {call.arguments}")
    found = compare_devices(call, device)
    if not isinstance(found, Difference):
        _say(found)
        return 0
    for name, outcome in (("CPU", found.cpu), (device, found.got)):
        _say(f"{name}: {outcome.error or outcome.result}")
    cause = cause_of(found)
    _say(f"{found.kind}: {found.text}\ncause: {cause}")
    return int(cause is None)


def _say(text: Any) -> None:
    sys.stdout.write(f"{text}\n")

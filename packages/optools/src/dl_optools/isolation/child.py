"""The child's side: one question after the other, within limits."""

from __future__ import annotations

import functools
import importlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from dl_optools.isolation.answer import Answer
from dl_optools.isolation.limits import Limits, allow_time, confine

Say = Callable[[str], None]
"""Tells what is being done: should the child end there, that is where."""
Work = Callable[..., Answer]

WORKS = {
    "replay": "dl_optools.replay.one:replay",
    "show": "dl_optools.replay.description:show",
    "export": "dl_optools.replay.export:export",
}
"""What can be asked, and the function that does it."""


def work_of(name: str) -> Work:
    module, _, function = WORKS[name].partition(":")
    found: Work = getattr(importlib.import_module(module), function)
    return found


def main() -> None:
    """Read questions from standard input, a line of JSON each, and answer on standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent decides what becomes of us.
    setup: dict[str, Any] = json.loads(sys.argv[2])
    channel = os.fdopen(os.dup(1), "w", encoding="ascii", buffering=1)
    os.dup2(2, 1)  # What libraries print is no answer.
    threading.Thread(target=_end_with_parent, args=(setup["life"],), daemon=True).start()
    limits = Limits(setup["memory"], setup["seconds"])
    problem = _ready(setup["device"], setup["name"])
    for module in setup["imports"]:
        importlib.import_module(module)
    devices = setup["device"] not in (None, "cpu")
    confine(limits, writes=setup["writes"], devices=devices)
    channel.write(json.dumps({"ready": problem}) + "\n")
    for line in sys.stdin:
        question = json.loads(line)
        allow_time(limits)
        say = functools.partial(_say, channel)
        answer = work_of(question["work"])(say, memory=limits.memory, **question["arguments"])
        channel.write(json.dumps({"answer": answer.as_json()}) + "\n")


def _say(channel: Any, text: str) -> None:
    channel.write(json.dumps({"at": text}) + "\n")


def _end_with_parent(life: int) -> None:
    """Nobody writes to that pipe: it ends when the parent does."""
    os.read(life, 1)
    os._exit(1)


def _ready(device: str | None, name: str) -> str:
    """Have torch and the device take what they need anyway: it is on no bundle's account.

    :param device: None: none is used; ``""``: the accelerator, or else the CPU.
    :returns: why there is no such device here.
    """
    import torch

    from dl_optools.tool import check_device, chosen_device

    torch.sparse.check_sparse_tensor_invariants.enable()
    if device is None:
        return ""
    device = chosen_device(device)
    try:
        check_device(device.partition(":")[0], name)
        for place in dict.fromkeys(["cpu", device]):
            # Threads of operators and of backward have stacks.
            x = torch.ones(1 << 18, device=place, requires_grad=True)
            (x * 2).sum().backward()
    except (RuntimeError, ValueError) as error:
        return str(error)
    return ""

"""Child process that handles requests one after the other, within resource limits."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from diopi_proto.worker import note
from dl_optools.isolation.answer import Answer
from dl_optools.isolation.limits import Limits, allow_time, confine

Work = Callable[..., Answer]
Question = tuple[str, dict[str, Any]]

WORKS = {
    "replay": "dl_optools.replay.one:replay",
    "show": "dl_optools.replay.description:show",
    "export": "dl_optools.replay.export:export",
}
"""Supported requests, and the functions that handle them."""


def work_of(name: str) -> Work:
    module, _, function = WORKS[name].partition(":")
    found: Work = getattr(importlib.import_module(module), function)
    return found


class Bundles:
    """Handler of requests about bundles. The request None asks why the device is not available.

    The parameters are those of :class:`.worker.Worker`.
    """

    def __init__(
        self, limits: Limits, device: str | None, name: str, imports: Sequence[str], writes: bool
    ) -> None:
        note("it was starting")
        self._limits = limits
        self._problem = _ready(device, name)
        for module in imports:
            importlib.import_module(module)
        confine(limits, writes=writes, devices=device not in (None, "cpu"))

    def __call__(self, question: Question | None) -> object:
        if question is None:
            return self._problem
        note("it was reading the request")
        allow_time(self._limits)
        work, arguments = question
        return work_of(work)(memory=self._limits.memory, **arguments).as_json()


def _ready(device: str | None, name: str) -> str:
    """Let torch and the device allocate their own memory before a bundle's limits apply.

    :param device: device to use; None: no device; ``""``: the accelerator, or else the CPU.
    :returns: why the device is not available.
    """
    import torch

    from dl_optools.tool import check_device, resolve_device

    torch.sparse.check_sparse_tensor_invariants.enable()
    if device is None:
        return ""
    device = resolve_device(device)
    try:
        check_device(device.partition(":")[0], name)
        for place in dict.fromkeys(["cpu", device]):
            # Start the threads of operators and of backward, whose stacks count as memory.
            x = torch.ones(1 << 18, device=place, requires_grad=True)
            (x * 2).sum().backward()
    except (RuntimeError, ValueError) as error:
        return str(error)
    return ""

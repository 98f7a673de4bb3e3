"""Tool that records which operator each thread runs; see :mod:`.crumb_file`."""

from __future__ import annotations

import faulthandler
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, cast

import torch

from diopi_proto.tolerance.torch_operators.schema import Overload
from dl_optools.breadcrumbs.crumb_file import (
    FINISHED,
    LEFT,
    ONLY_ON_DEVICE,
    RAISED,
    CrumbWriter,
    Slot,
)
from dl_optools.breadcrumbs.names import FATAL_SUFFIX, FOLDER_VARIABLE, SYNCHRONOUS_VARIABLE
from dl_optools.call import OpCall
from dl_optools.environment import environment
from dl_optools.launching.endings import is_terminated
from dl_optools.names import Level
from dl_optools.on_host import only_on_device
from dl_optools.tool import Tool

_LISTED = 8
"""Maximum number of recorded elements of a list argument."""


class OpBreadcrumbs(Tool):
    """Records each overload before it runs, and its end.

    The records are in ``<folder>/<process>.crumbs``, where ``DL_TOOLS_BREADCRUMBS`` names the
    folder; forked processes have files of their own. Signals that end the process add
    ``<process>.fatal``, which names the thread in which they were raised.

    If ``DL_TOOLS_SYNCHRONOUS`` is set, the tool waits for each operator: otherwise a device that
    computes in the background would fail while another operator is recorded.
    """

    variable = "BREADCRUMBS"
    default_level = Level.DISPATCH
    observes = True

    def opened(self) -> None:
        self._folder = Path(environment().get(FOLDER_VARIABLE) or ".")
        self._synchronous = bool(environment().get(SYNCHRONOUS_VARIABLE))
        self._fatal: IO[bytes] | None = None
        self._open()

    def _open(self) -> None:
        self._writer = CrumbWriter(self._folder)
        self._thread = threading.local()
        # A program with its own handler keeps it.
        if self._fatal is not None or not faulthandler.is_enabled():
            self._fatal = (self._folder / f"{os.getpid()}{FATAL_SUFFIX}").open("wb", buffering=0)
            faulthandler.enable(self._fatal)

    def closed(self) -> None:
        # If this thread, which stops the tools, is inside an operator, that operator is ending the
        # process.
        slot: Slot | None = getattr(self._thread, "slot", None)
        if slot is not None:
            self._writer.leave(slot.at)
        if self._fatal is not None:
            faulthandler.disable()
            self._fatal.close()

    def let_be(self) -> None:
        """Continue in a forked child, with a file of its own."""
        try:
            self._open()
        except OSError:
            super().let_be()

    def handle(self, call: OpCall) -> Any:
        slot: Slot | None = getattr(self._thread, "slot", None)
        if slot is None:
            slot = self._thread.slot = self._writer.take()
        writer = self._writer
        stuck = only_on_device(cast("Overload[Any, Any]", call.function))
        text = describe(call.name, call.args, call.kwargs)
        text += " in backward" if call.backward else ""
        writer.begin(slot.at, text, ONLY_ON_DEVICE if stuck else 0)
        state = RAISED
        try:
            result = call.proceed()
            if self._synchronous and torch.accelerator.is_available():
                torch.accelerator.synchronize()
            state = FINISHED
            return result
        except SystemExit:
            # A signal from another process may arrive during any operator.
            state = RAISED if is_terminated() else LEFT
            raise
        finally:
            writer.end(slot.at, state)


def describe(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Return name and arguments of a call: ``aten.mm.default(float32[2, 3], float32[3, 4])``."""
    parts = [_describe_argument(value) for value in args]
    parts += [f"{key}={_describe_argument(value)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(parts)})"


def _describe_argument(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype)[6:]}{list(value.shape)}"
    if isinstance(value, (list, tuple)):
        shown = ", ".join(map(_describe_argument, value[:_LISTED]))
        return f"[{shown}{', ...' if len(value) > _LISTED else ''}]"
    return str(value)

"""Overloads by which processes communicate; their work goes on after they have returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def communicates(name: str) -> bool:
    """Whether an overload belongs to torch.distributed: ``c10d.allreduce_.default``."""
    return name.startswith("c10d.")


def when_done(result: Any, act: Callable[[], None]) -> bool:
    """Call ``act`` when the communication that returned ``result`` is complete, in some thread.

    Nothing waits, so that processes that wait for each other still do so in the program's order.
    False where the process group does not tell.
    """
    parts = result if isinstance(result, tuple) else (result,)
    work = next((part for part in parts if isinstance(part, torch.ScriptObject)), None)
    if work is None:
        return False
    from torch.distributed.distributed_c10d import Work

    try:
        future = Work.unbox(work).get_future()
    except RuntimeError:
        return False
    future.add_done_callback(lambda _: act())
    return True

"""Overloads of collective communication, whose work continues after they have returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def communicates(name: str) -> bool:
    """Return True if an overload belongs to torch.distributed: ``c10d.allreduce_.default``."""
    return name.startswith("c10d.")


def when_done(result: Any, act: Callable[[], None]) -> bool:
    """Call ``act`` when the communication that returned ``result`` is complete, in some thread.

    It does not wait, so that the order in which processes wait for each other does not change.
    Return False if the process group offers no callback.
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

"""History and snapshots of the allocator, in the form of ``torch.cuda.memory``."""

from __future__ import annotations

import inspect
import os
import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dl_core import _C
from dl_core.torch_backend._utils import DeviceLike

_ENABLED = ("state", "all")
_CONTEXTS = ("state", "alloc", "all")
_STACKS = ("python", "all")
_NEVER = "snapshot"
"""An action of torch.cuda that dl's allocator does not have."""


def memory_snapshot() -> list[dict[str, Any]]:
    """Return the segments of all devices with their blocks.

    The format is that of :func:`torch.cuda.memory_snapshot`.
    """
    segments: list[dict[str, Any]] = _C.memory_snapshot()["segments"]
    return segments


def _snapshot(device: DeviceLike = None, augment_with_fx_traces: bool = False) -> dict[str, Any]:
    """Return segments, blocks and the recorded history.

    :param device: ignored, as in ``torch.cuda.memory._snapshot``: all devices are included.
    :param augment_with_fx_traces: add the original source line to frames of FX's generated code.
    :returns: keys and meanings are those of ``torch.cuda.memory._snapshot()``: ``segments``,
        ``device_traces`` (a list for each device) and ``allocator_settings``. Sizes in bytes,
        times in microseconds since 1970.
    """
    found = _C.memory_snapshot()
    if augment_with_fx_traces:
        from torch import _utils

        add_source_lines: Callable[[Any], Any] = _utils._augment_memory_snapshot_stack_traces
        found = add_source_lines(found)
    return found


def _dump_snapshot(
    filename: str | os.PathLike[str] = "dump_snapshot.pickle", augment_with_fx_traces: bool = False
) -> None:
    """Write :func:`_snapshot` to a file that torch's viewer reads (pytorch.org/memory_viz).

    The format is torch's, a pickle: open only files that you trust.

    :param filename: the file to create or replace.
    """
    found = _snapshot(augment_with_fx_traces=augment_with_fx_traces)
    with Path(filename).open("wb") as file:
        pickle.dump(found, file)


def _record_memory_history(enabled: str | bool | None = "all", *args: Any, **kwargs: Any) -> None:
    """Record the events of the allocator with the stacks of the program, or stop recording.

    The parameters are those of ``torch.cuda.memory._record_memory_history``, including its older
    form with a boolean as first argument. Recorded events stay in :func:`_snapshot` until recording
    starts again; a second call during a recording changes the options and keeps the events.

    :param enabled: ``"all"``: every event; ``"state"``: stacks of live blocks and no history; None:
        stop.
    :param context: stacks to record. None: none; ``"state"``: those of live blocks; ``"alloc"``:
        also those of allocations in the history; ``"all"`` (default): those of all events.
    :param stacks: ``"python"``: Python frames; ``"all"`` (default): also C++ frames.
    :param max_entries: maximum number of recorded events; the oldest are dropped (default: no
        limit).
    :param device: ignored, as in torch: all devices are recorded.
    :param clear_history: drop the events that were recorded before.
    :param compile_context: ignored: events have no compiler frames.
    :param global_record_annotations: ignored: events have no annotations.
    :param skip_actions: names of events to ignore, such as ``"free_completed"``.
    :raises ValueError: an option has no such value; the message lists the valid ones.
    """
    if isinstance(enabled, bool):
        _of_booleans(enabled, *args, **kwargs)
    else:
        _of_names(enabled, *args, **kwargs)


def _of_booleans(
    enabled: bool,
    record_context: bool = True,
    trace_alloc_max_entries: int = 1,
    trace_alloc_record_context: bool = False,
    device: DeviceLike = None,
    record_context_cpp: bool = False,
    clear_history: bool = False,
    compile_context: bool = False,
    global_record_annotations: bool = False,
    skip_actions: Sequence[str] | None = None,
) -> None:
    """Implement the older form of :func:`_record_memory_history`."""
    _of_names(
        "all" if enabled else None,
        "all" if trace_alloc_record_context else "state" if record_context else None,
        "all" if record_context_cpp else "python",
        trace_alloc_max_entries,
        clear_history=clear_history,
        skip_actions=skip_actions,
    )


def _of_names(
    enabled: str | None = "all",
    context: str | None = "all",
    stacks: str = "all",
    max_entries: int = sys.maxsize,
    device: DeviceLike = None,
    clear_history: bool = False,
    compile_context: bool = False,
    global_record_annotations: bool = False,
    skip_actions: Sequence[str] | None = None,
) -> None:
    """Implement :func:`_record_memory_history`."""
    if enabled is None:
        _C.stop_memory_history()
        return
    skipped = list(skip_actions or ())
    _check("enabled", enabled, _ENABLED)
    _check("stacks", stacks, _STACKS)
    if context is not None:
        _check("context", context, _CONTEXTS)
    for action in skipped:
        _check("skip_actions", action, [*_C.memory_actions(), _NEVER])
    if max_entries < 1:
        raise ValueError(f"[_record_memory_history] max_entries={max_entries} is below 1")
    entries = max_entries if enabled == "all" else 0
    _C.record_memory_history(entries, stacks, context, skipped, clear_history)


# Tools read the recorded options, as in torch.
_record_memory_history.__signature__ = inspect.signature(_of_names)  # type: ignore[attr-defined]


def _check(name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(
            f"[_record_memory_history] {name}={value!r} is not one of {', '.join(allowed)}"
        )

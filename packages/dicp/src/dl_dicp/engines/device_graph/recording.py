"""Device graphs: capture on a separate stream, for replays on any stream."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch

from dl_core import _C

Made = TypeVar("Made")

_DEVICE_TYPE = torch._C._autograd.DeviceType.PrivateUse1.value
_lock = threading.RLock()
_streams: dict[int, torch.Stream] = {}


def why_not(device: torch.device) -> str:
    """Return why a device does not support graph capture; empty if it does."""
    try:
        with torch.accelerator.device_index(device.index):
            torch.accelerator.Graph()
    except NotImplementedError:
        vendor = _C.device_info(device.index)["vendor"]
        return f"the vendor {vendor} has no graph extension"
    return ""


def is_capturing(device: torch.device) -> bool:
    """Return True if the current stream is being captured, by the engine or by the caller."""
    return _C.is_capturing(device.index)


@contextlib.contextmanager
def _aside(device: torch.device) -> Iterator[None]:
    """Make a private stream the current one, for one thread at a time.

    Another thread may use the caller's stream, and a capture would record its work as well.
    """
    with _lock:
        if device.index not in _streams:
            _streams[device.index] = torch.Stream(
                stream_id=_C.reserved_stream(device.index),
                device_index=device.index,
                device_type=_DEVICE_TYPE,
            )
        with _streams[device.index]:
            yield


def record_graph(
    device: torch.device, run: Callable[[], Made], pool: tuple[int, int] | None
) -> tuple[Any, Made]:
    """Capture the work that a call enqueues, without running it; return the graph and the result.

    :param pool: memory pool of another graph, to share; None for a pool of its own.
    :raises RuntimeError: part of the work cannot be captured.
    """
    with _aside(device), _no_collection():
        graph = torch.accelerator.Graph(pool=pool)
        graph.capture_begin()
        try:
            made = run()
        except BaseException:
            with contextlib.suppress(RuntimeError):
                graph.capture_end()
            raise
        graph.capture_end()
    return graph, made


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Disable garbage collection: destroying a graph waits for its device, which a capture
    forbids.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

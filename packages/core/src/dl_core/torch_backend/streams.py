"""Streams and events: torch's own objects, created for this device type.

``Event`` creates plain :class:`torch.Event` objects, because some torch functions, such as
``Event.elapsed_time``, reject subclasses. ``isinstance`` is True for all streams and events of dl,
including those that torch creates.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

import torch

from dl_core import _C
from dl_core.torch_backend import DEVICE
from dl_core.torch_backend._utils import DeviceLike, existing_index
from dl_core.torch_backend.devices import device as device_guard

_DEVICE_TYPE = torch._C._autograd.DeviceType.PrivateUse1.value
_DEFAULT_STREAM_ID = 0


class _StreamType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch.Stream) and instance.device.type == DEVICE


class _EventType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch.Event) and instance.device.type == DEVICE


class Stream(torch.Stream, metaclass=_StreamType):
    """A queue of work on one device.

    :param device: the device (default: the current one).
    :param priority: a lower number means a higher priority.
    :param ids: instead of a device: ``stream_id``, ``device_index`` and ``device_type`` of an
        existing stream.
    """

    def __new__(cls, device: DeviceLike = None, priority: int = 0, **ids: Any) -> Stream:
        if ids:
            return super().__new__(cls, priority=priority, **ids)
        index = existing_index("Stream", device)
        return super().__new__(cls, device=torch.device(DEVICE, index), priority=priority)

    @property
    def priority(self) -> int:
        """Return the priority, within :meth:`priority_range`."""
        return _C.stream_priority(self.device_index, self.stream_id)

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """Return the lowest and the highest priority, which is the smaller number."""
        return _C.LARGEST_PRIORITY, -_C.LARGEST_PRIORITY


class Event(metaclass=_EventType):
    """A marker in a stream, for synchronization or timing.

    :param enable_timing: enables ``elapsed_time`` between two such events.
    """

    def __new__(  # type: ignore[misc]
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> torch.Event:
        return torch.Event(
            device=torch.device(DEVICE),
            enable_timing=enable_timing,
            blocking=blocking,
            interprocess=interprocess,
        )


def current_stream(device: DeviceLike = None) -> Stream:
    """Return the current stream of this thread on ``device``."""
    found = torch.accelerator.current_stream(existing_index("current_stream", device))
    return _stream(found.stream_id, found.device_index)


def default_stream(device: DeviceLike = None) -> Stream:
    """Return the default stream of ``device``."""
    return _stream(_DEFAULT_STREAM_ID, existing_index("default_stream", device))


def _stream(stream_id: int, index: int) -> Stream:
    return Stream(stream_id=stream_id, device_index=index, device_type=_DEVICE_TYPE)


def set_stream(stream: torch.Stream | None) -> None:
    """Make ``stream`` and its device current for this thread. None changes nothing."""
    if stream is not None:
        torch.accelerator.set_stream(stream)


class StreamContext:
    """Context manager that makes a stream and its device current. None changes nothing."""

    def __init__(self, stream: torch.Stream | None) -> None:
        self.stream = stream
        self._replaced: list[tuple[torch.Stream, device_guard]] = []

    def __enter__(self) -> None:
        if self.stream is None:
            return
        guard = device_guard(self.stream.device_index)
        guard.__enter__()
        self._replaced.append((current_stream(self.stream.device_index), guard))
        set_stream(self.stream)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.stream is not None:
            # Restore the stream first: setting a stream makes its device current, which the guard
            # undoes.
            replaced, guard = self._replaced.pop()
            set_stream(replaced)
            guard.__exit__(kind, error, trace)


def stream(stream: torch.Stream | None) -> StreamContext:
    """Context manager that makes ``stream`` current. None changes nothing."""
    return StreamContext(stream)

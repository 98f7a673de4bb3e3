"""Streams and events: torch's own classes, bound to this device type."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import torch
from typing_extensions import Self

from dl_core.torch_backend import DEVICE
from dl_core.torch_backend._utils import DeviceLike, existing_index
from dl_core.torch_backend.devices import device as device_guard

_DEVICE_TYPE = torch._C._autograd.DeviceType.PrivateUse1.value
_DEFAULT_STREAM_ID = 0


class Stream(torch.Stream):
    """A queue of work on one device.

    :param device: where; the current device if None.
    :param priority: a lower number is more urgent.
    """

    def __new__(cls, device: DeviceLike = None, priority: int = 0, **ids: Any) -> Self:
        if ids:
            return super().__new__(cls, priority=priority, **ids)
        index = existing_index("Stream", device)
        return super().__new__(cls, device=torch.device(DEVICE, index), priority=priority)

    def __repr__(self) -> str:
        return f"torch.dl.Stream(device={self.device}, stream_id={self.stream_id:#x})"


class Event(torch.Event):
    """A mark in a stream, to wait for or to measure time with.

    :param enable_timing: :meth:`elapsed_time` works between two such events.
    """

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> Self:
        return super().__new__(
            cls,
            device=torch.device(DEVICE),
            enable_timing=enable_timing,
            blocking=blocking,
            interprocess=interprocess,
        )


def _ours(stream: torch.Stream) -> Stream:
    return Stream(
        stream_id=stream.stream_id,
        device_index=stream.device_index,
        device_type=stream.device_type,
    )


def current_stream(device: DeviceLike = None) -> Stream:
    """The stream that work of this thread on ``device`` goes to."""
    return _ours(torch.accelerator.current_stream(existing_index("current_stream", device)))


def default_stream(device: DeviceLike = None) -> Stream:
    """The stream that is current where none was set."""
    return Stream(
        stream_id=_DEFAULT_STREAM_ID,
        device_index=existing_index("default_stream", device),
        device_type=_DEVICE_TYPE,
    )


def set_stream(stream: torch.Stream | None) -> None:
    """Make ``stream`` and its device current for this thread. None changes nothing."""
    if stream is not None:
        torch.accelerator.set_stream(stream)


class StreamContext:
    """Context manager: makes a stream and its device current. None changes nothing."""

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
            # The stream first: setting one makes its device current, and the guard undoes that.
            replaced, guard = self._replaced.pop()
            set_stream(replaced)
            guard.__exit__(kind, error, trace)


def stream(stream: torch.Stream | None) -> StreamContext:
    """Context manager: work goes to ``stream``. None changes nothing."""
    return StreamContext(stream)

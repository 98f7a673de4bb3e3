"""Samples of the memory of a process and of a device."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Sample:
    """One sample; sizes in MiB, None if unknown.

    :ivar seconds: time since the monitor started.
    :ivar host_rss: resident memory of the process on the host.
    :ivar device_allocated: in tensors of this process; ``device_reserved``: including what its
        allocator caches.
    :ivar device_used: by all processes; ``device_total``: capacity of the device.
    """

    time: str
    seconds: float
    pid: int
    host_rss: float
    device: str = ""
    device_allocated: float | None = None
    device_reserved: float | None = None
    device_used: float | None = None
    device_total: float | None = None


COLUMNS = tuple(field.name for field in fields(Sample))

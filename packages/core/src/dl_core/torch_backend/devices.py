"""Devices: their number, the current device, and their properties."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType

import torch

from dl_core import _C
from dl_core.torch_backend import DEVICE, tuning
from dl_core.torch_backend._utils import (
    DeviceLike,
    _get_device_index,
    current_device,
    device_count,
    existing_index,
    traced_as_constant,
)


def is_available() -> bool:
    """Return True if there is at least one device. Does not touch a driver."""
    return device_count() > 0


def set_device(device: DeviceLike) -> None:
    """Make ``device`` current for this thread. A negative index changes nothing.

    :raises RuntimeError: the device does not exist.
    """
    index = _get_device_index(device, optional=True)
    if index >= 0:
        _C.set_device(existing_index("set_device", index))


class device:  # noqa: N801 - as in torch.cuda
    """Context manager that makes ``device`` current; None or a negative index changes nothing."""

    def __init__(self, device: DeviceLike) -> None:
        self.idx = -1 if device is None else _get_device_index(device, optional=True)
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx >= 0:
            existing_index("device", self.idx)
        self.prev_idx = _C.maybe_exchange_device(self.idx)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _C.maybe_exchange_device(self.prev_idx)


class device_of(device):  # noqa: N801 - as in torch.cuda
    """Context manager that makes the device of a tensor or storage current if it is a dl device."""

    def __init__(self, obj: torch.Tensor | torch.UntypedStorage) -> None:
        super().__init__(obj.device.index if obj.device.type == DEVICE else None)


def synchronize(device: DeviceLike = None) -> None:
    """Wait for the work on all streams of ``device`` (default: the current one)."""
    torch.accelerator.synchronize(existing_index("synchronize", device))


@dataclass(frozen=True)
class DeviceProperties:
    """Properties of a device, as reported by its vendor."""

    name: str
    vendor: str
    """Name of the vendor, as in ``DL_VENDORS``."""
    vendor_device: int
    """The vendor's own index of the device."""
    total_memory: int
    """Memory size in bytes."""
    major: int
    """Architecture version, as defined by the vendor."""
    minor: int
    multi_processor_count: int
    warp_size: int
    architecture: str
    allocation_padding: int
    """Bytes without data that the device needs after each block of memory."""

    @property
    def gcnArchName(self) -> str:  # noqa: N802 - torch's name, which Inductor reads
        """Return the architecture."""
        return self.architecture


def get_device_properties(device: DeviceLike = None) -> DeviceProperties:
    """Return the properties of ``device`` (default: the current one)."""
    return _properties(existing_index("get_device_properties", device))


@traced_as_constant
def _properties(index: int) -> DeviceProperties:
    info = _C.device_info(index)
    return DeviceProperties(
        name=info["name"],
        vendor=info["vendor"],
        vendor_device=info["local_index"],
        total_memory=info["total_memory"],
        major=info["major"],
        minor=info["minor"],
        multi_processor_count=info["multiprocessor_count"],
        warp_size=info["warp_size"],
        architecture=info["architecture"],
        allocation_padding=info["allocation_padding"],
    )


def get_device_name(device: DeviceLike = None) -> str:
    """Return the vendor's name of ``device``."""
    return get_device_properties(device).name


def get_device_capability(device: DeviceLike = None) -> tuple[int, int]:
    """Return the architecture version (major, minor) of ``device``, as defined by the vendor."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return True if the current device supports bfloat16.

    :param including_emulation: if False, return False for a device that supports bfloat16 only
        through the CPU fallback. If True, the result is always True.
    """
    if including_emulation:
        return True
    capability = torch.accelerator.get_device_capability(current_device())
    return torch.bfloat16 in capability["supported_dtypes"]


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Return the dtypes that autocast may use on the current device.

    float16 and bfloat16 are always allowed: if the vendor does not support an operator in a dtype,
    it runs on the CPU.
    """
    return [torch.bfloat16, torch.float16]


@traced_as_constant
def is_initialized() -> bool:
    """Return True if this process can use the devices. False in a forked child of a process that
    used them."""
    return not _C.is_in_bad_fork()


def init() -> None:
    """Check that this process can use the devices, and run deferred initialization.

    :raises RuntimeError: this is a forked child of a process that has used a device.
    """
    if _C.is_in_bad_fork():
        raise RuntimeError(
            "[torch.dl.init] a forked process cannot use the devices its parent has used. Start it "
            "with the spawn method: torch.multiprocessing.set_start_method('spawn')."
        )
    _C.note_first_use()
    tuning.request()


_lazy_init = init


def _is_in_bad_fork() -> bool:
    return _C.is_in_bad_fork()

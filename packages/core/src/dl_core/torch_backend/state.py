"""Functions of ``torch.cuda`` that have the same result for every vendor."""

from __future__ import annotations

from dl_core import _C
from dl_core.torch_backend._utils import DeviceLike, existing_index
from dl_core.torch_backend.devices import get_device_properties

has_half = True
has_magma = False


def get_arch_list() -> list[str]:
    """Return the architectures of the visible devices, without duplicates, as their vendors name
    them."""
    found = (get_device_properties(index).architecture for index in range(_C.device_count()))
    return list(dict.fromkeys(name for name in found if name))


def get_gencode_flags() -> str:
    """Return the compiler flags of this torch build for the device, which are empty."""
    return ""


def is_tf32_supported() -> bool:
    """Return False, because vendors need not support TF32. A vendor that does uses it for products
    of float32 matrices if ``torch.set_float32_matmul_precision`` or
    ``torch.backends.cuda.matmul.allow_tf32`` allow it."""
    return False


def can_device_access_peer(device: DeviceLike, peer_device: DeviceLike) -> bool:
    """Return True if ``device`` can read the memory of ``peer_device``. Always False: copies
    between devices work, but kernels access the memory of their own device only.

    :raises ValueError: both are the same device.
    """
    operation = "can_device_access_peer"
    index, peer = existing_index(operation, device), existing_index(operation, peer_device)
    if index == peer:
        raise ValueError(f"[torch.dl.{operation}] dl:{index} is not a peer of itself")
    return False


def is_current_stream_capturing() -> bool:
    """Return True if :class:`torch.accelerator.Graph` is capturing the current stream."""
    return _C.is_capturing(_C.current_device())


def ipc_collect() -> None:
    """Free storages that were sent to other processes and are no longer used. The allocator does
    this itself before it allocates more memory."""
    _C.collect_loans()


def get_sync_debug_mode() -> int:
    """Return 0: synchronizing operators are not reported."""
    return 0


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Accept 0 or ``"default"``, which change nothing.

    :raises NotImplementedError: the mode would report synchronizing operators, which dl cannot do.
    :raises ValueError: the mode does not exist.
    """
    modes = ("default", "warn", "error")
    if debug_mode not in modes and debug_mode not in (0, 1, 2):
        raise ValueError(
            f"[torch.dl.set_sync_debug_mode] unknown mode {debug_mode!r}; expected "
            f"{', '.join(modes)} or 0, 1, 2"
        )
    if debug_mode not in (0, "default"):
        raise NotImplementedError(
            f"[torch.dl.set_sync_debug_mode] dl cannot report synchronizing operators, so "
            f"{debug_mode!r} would report none; torch.profiler shows where time goes"
        )

"""Facts and switches of ``torch.cuda`` whose answer is the same for every vendor."""

from __future__ import annotations

from dl_core import _C
from dl_core.torch_backend._utils import DeviceLike, existing_index
from dl_core.torch_backend.devices import get_device_properties

has_half = True
has_magma = False


def get_arch_list() -> list[str]:
    """Architectures of the visible devices, each once, as their vendors name them."""
    found = (get_device_properties(index).architecture for index in range(_C.device_count()))
    return list(dict.fromkeys(name for name in found if name))


def get_gencode_flags() -> str:
    """Compiler flags that this torch was built with for the device: none."""
    return ""


def is_tf32_supported() -> bool:
    """False: no vendor has to have TF32. One that has it uses it for products of float32 matrices
    while ``torch.set_float32_matmul_precision`` or ``torch.backends.cuda.matmul.allow_tf32`` allow
    it."""
    return False


def can_device_access_peer(device: DeviceLike, peer_device: DeviceLike) -> bool:
    """Whether ``device`` reads the memory of ``peer_device`` itself. False: copies between devices
    work, but kernels see the memory of their own device only.

    :raises ValueError: both are the same device.
    """
    operation = "can_device_access_peer"
    index, peer = existing_index(operation, device), existing_index(operation, peer_device)
    if index == peer:
        raise ValueError(f"[torch.dl.{operation}] dl:{index} is no peer of itself")
    return False


def is_current_stream_capturing() -> bool:
    """Whether work is being recorded instead of done, by :class:`torch.accelerator.Graph`."""
    return _C.is_capturing(_C.current_device())


def ipc_collect() -> None:
    """Free what was sent to other processes and is used nowhere any more. The allocator does so by
    itself before it asks for more memory."""
    _C.collect_loans()


def get_sync_debug_mode() -> int:
    """0: nobody is told of operators that wait for the device."""
    return 0


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Accepts what changes nothing: 0 or ``"default"``.

    :raises NotImplementedError: operators that wait are to be reported, which dl cannot.
    :raises ValueError: there is no such mode.
    """
    modes = ("default", "warn", "error")
    if debug_mode not in modes and debug_mode not in (0, 1, 2):
        raise ValueError(
            f"[torch.dl.set_sync_debug_mode] there is no mode {debug_mode!r}, only "
            f"{', '.join(modes)} or 0, 1, 2"
        )
    if debug_mode not in (0, "default"):
        raise NotImplementedError(
            f"[torch.dl.set_sync_debug_mode] dl does not report operators that wait for the "
            f"device, so {debug_mode!r} would report none; torch.profiler shows where time goes"
        )

"""Kernels that a program compiles at run time: ``torch.dl.compile_kernel``.

The interface is that of ``torch.cuda._compile_kernel``. The vendor compiles and launches kernels
with its kernel extension (``dl/kernel.h``).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import torch

from dl_core import _C
from dl_core.torch_backend import DEVICE
from dl_core.torch_backend._utils import DeviceLike, existing_index

_Size = int | Sequence[int]

_INT_LIMIT = 1 << 31
_CPU_CONVENTION = "DL_CPU_KERNEL"


class Kernel:
    """A compiled kernel. Safe to call from any thread.

    :ivar name: its name in the source.
    :ivar device: the device that it is loaded on.
    """

    def __init__(self, name: str, device: torch.device, code: bytes) -> None:
        self.name = name
        self.device = device
        self._function = _C.KernelFunction(device.index, code, name)

    def __call__(
        self,
        grid: _Size = (1, 1, 1),
        block: _Size = (1, 1, 1),
        args: Sequence[Any] | None = None,
        shared_mem: int = 0,
        stream: torch.Stream | None = None,
    ) -> None:
        """Enqueue the kernel.

        :param grid: number of blocks in each dimension.
        :param block: threads per block in each dimension.
        :param args: for each parameter a tensor of the kernel's device, which is passed as the
            address of its first element; None, a null pointer; an int, passed as a 32-bit integer;
            a float, passed as a double; or a ctypes or NumPy scalar of the parameter's type.
        :param shared_mem: dynamic shared memory of a block in bytes.
        :param stream: stream to use (default: the current stream of the device).
        :raises TypeError: an argument has another type.
        :raises ValueError: a tensor is on another device, an int does not fit, or a size is
            invalid.
        :raises RuntimeError: the vendor rejects the launch.
        """
        packed = bytearray()
        layout: list[tuple[int, int, bool]] = []
        for index, value in enumerate(args or ()):
            given, is_memory = self._pack(index, value)
            packed += bytes(-len(packed) % len(given))
            layout.append((len(packed), len(given), is_memory))
            packed += given
        with stream if stream is not None else nullcontext():
            self._function.launch(
                self._sizes("grid", grid),
                self._sizes("block", block),
                shared_mem,
                bytes(packed),
                layout,
            )

    def _sizes(self, name: str, sizes: _Size) -> tuple[int, int, int]:
        given = (sizes,) if isinstance(sizes, int) else tuple(sizes)
        if not 1 <= len(given) <= 3 or not all(isinstance(x, int) and x > 0 for x in given):
            raise ValueError(
                f"[torch.dl.compile_kernel] kernel {self.name}: {name}={sizes!r} is not one to "
                "three positive integers"
            )
        x, y, z = (*given, 1, 1)[:3]
        return x, y, z

    def _pack(self, index: int, value: Any) -> tuple[bytes, bool]:
        """Return an argument as bytes, and True if it is a device address."""
        if value is None:
            return bytes(8), True
        if isinstance(value, torch.Tensor):
            if value.device != self.device:
                raise ValueError(
                    f"{self._argument(index)} is on {value.device}, but the kernel was compiled "
                    f"for {self.device}; move the tensor, or compile the kernel with device="
                    f"{str(value.device)!r}"
                )
            return struct.pack("P", value.data_ptr()), True
        if isinstance(value, int):
            if not -_INT_LIMIT <= value < _INT_LIMIT:
                raise ValueError(
                    f"{self._argument(index)}, {value}, is not a 32-bit integer; pass "
                    "ctypes.c_int64(...) for a parameter of type int64_t"
                )
            return struct.pack("i", value), False
        if isinstance(value, float):
            return struct.pack("d", value), False
        if _is_ctypes_scalar(value):
            return bytes(value), False
        if type(value).__module__ == "numpy" and hasattr(value, "tobytes") and value.shape == ():
            return value.tobytes(), False
        raise TypeError(
            f"{self._argument(index)} has the type {type(value).__name__}; expected a tensor, "
            "None, an int, a float, or a ctypes or NumPy scalar"
        )

    def _argument(self, index: int) -> str:
        return f"[torch.dl.compile_kernel] kernel {self.name}: argument {index}"

    def __repr__(self) -> str:
        return f"<kernel {self.name} on {self.device}>"


def _is_ctypes_scalar(value: Any) -> bool:
    """Return True for a scalar of ctypes, which only the caller imports."""
    names = {f"{base.__module__}.{base.__name__}" for base in type(value).__mro__}
    return "_ctypes._SimpleCData" in names and "ctypes.py_object" not in names


def compile_kernel(
    kernel_source: str,
    kernel_name: str,
    *,
    device: DeviceLike = None,
    language: str | None = None,
    options: Sequence[str] = (),
    seconds: float = 60.0,
) -> Kernel:
    """Compile source text for a device and return one of its kernels.

    The language depends on the vendor: CUDA or HIP (``extern "C" __global__``), OpenCL C
    (``kernel``), or C++ for the CPU (``DL_CPU_KERNEL(name)`` of ``dl_cpu_kernel.h``). Code is
    cached on disk by the vendor.

    :param kernel_name: name of the function in the source.
    :param device: device that the kernel is compiled for (default: the current device).
    :param language: language of the source (default: the first that the vendor supports).
    :param options: options of the vendor's compiler, one word each.
    :param seconds: timeout of the compiler in seconds.
    :raises NotImplementedError: the vendor cannot compile kernels, or not in this language.
    :raises RuntimeError: the compiler rejects the source; the message contains its log.
    """
    target = torch.device(DEVICE, existing_index("compile_kernel", device))
    languages, unavailable = _C.kernel_languages(target.index)
    known = [each for each in languages.split(",") if each]
    if unavailable or not known:
        why = unavailable or "its vendor supports no language"
        raise NotImplementedError(
            f"[torch.dl.compile_kernel] {target} cannot compile kernels: {why}"
        )
    chosen = known[0] if language is None else language
    if chosen not in known:
        raise NotImplementedError(
            f"[torch.dl.compile_kernel] {target} compiles {', '.join(known)}, not {chosen!r}"
        )
    if chosen == "c++" and _CPU_CONVENTION not in kernel_source:
        raise ValueError(
            f"[torch.dl.compile_kernel] the source has no {_CPU_CONVENTION}: on {target}, a kernel "
            f'is a C++ function. Include "dl_cpu_kernel.h" and begin the kernel with '
            f"{_CPU_CONVENTION}({kernel_name})"
        )
    suffix = {"c++": "cpp", "cuda": "cu", "hip": "hip", "opencl": "cl"}.get(chosen, "txt")
    code = _C.compile_kernels(
        target.index, chosen, f"{kernel_name}.{suffix}", kernel_source, list(options), seconds
    )
    return Kernel(kernel_name, target, code)

"""The kernel extension: compiles source text, loads the code, and launches its functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._native import text
from ..errors import ArgumentError
from .cabi import constants, ffi
from .extensions import create_owned, extension_of
from .instance import Instance
from .memory import aligned_bytes
from .streams import Stream
from .structs import CData
from .tensor import Tensor

Three = tuple[int, int, int]


@dataclass(frozen=True)
class KernelProperties:
    """Kernel support of a device. A limit of 0 means unlimited."""

    languages: tuple[str, ...]
    """Languages that :meth:`Kernels.compile` accepts."""
    architecture: str
    """Target architecture of compiled code."""
    compiler: str
    """Name of the compiler; empty without one."""
    unavailable: str
    """Why kernels cannot be compiled, and the remedy; empty if they can be compiled."""
    max_grid: Three
    max_block: Three
    max_block_threads: int
    warp_size: int
    max_shared_bytes: int
    max_argument_bytes: int


@dataclass(frozen=True)
class KernelCode:
    """Compiled code. Its bytes may be cached, and loaded by another process with the same release
    of the vendor on a device of the same architecture.
    """

    bytes: bytes
    log: str
    """The compiler's warnings."""
    cached: bool
    """True if the code came from the vendor's cache."""


@dataclass(frozen=True)
class FunctionProperties:
    """Resources that a function needs. A number that the vendor does not know is None."""

    registers: int | None
    """Registers of a thread."""
    spill_bytes: int | None
    """Bytes of a thread's spilled registers."""
    local_bytes: int | None
    """Bytes of a thread's stack, spills included."""
    shared_bytes: int | None
    """Bytes of a block's shared memory."""
    constant_bytes: int | None
    max_block_threads: int | None
    code_bytes: int | None


class Kernels:
    """The kernel extension of one vendor; :attr:`diopi_proto.Vendor.kernels`."""

    def __init__(self, instance: Instance) -> None:
        self._instance, self._slots = instance, extension_of(instance, "kernel")

    def properties(self, device: int = 0) -> KernelProperties:
        """Return the kernel support of a device. Does not run the compiler.

        :raises ArgumentError: there is no such device.
        """
        self._instance.check_device(device, "kernel.properties")
        raw = ffi.new("dl_kernel_properties_t*")
        raw.struct_size = ffi.sizeof("dl_kernel_properties_t")
        self._slots.call("properties", device, raw)
        return KernelProperties(
            languages=tuple(filter(None, text(raw.languages).split(","))),
            architecture=text(raw.architecture),
            compiler=text(raw.compiler),
            unavailable=text(raw.unavailable),
            max_grid=(raw.max_grid[0], raw.max_grid[1], raw.max_grid[2]),
            max_block=(raw.max_block[0], raw.max_block[1], raw.max_block[2]),
            max_block_threads=raw.max_block_threads,
            warp_size=raw.warp_size,
            max_shared_bytes=raw.max_shared_bytes,
            max_argument_bytes=raw.max_argument_bytes,
        )

    def compile(
        self,
        source: str,
        *,
        device: int = 0,
        language: str | None = None,
        name: str = "kernel",
        options: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        seconds: float = 0.0,
    ) -> KernelCode:
        """Compile source text for the architecture of a device.

        :param language: source language; None: the vendor's first one.
        :param name: name of the source in the compiler's messages.
        :param options: compiler options, one word each.
        :param headers: contents of headers that the source includes, by name.
        :param seconds: timeout of the compiler; 0: the vendor's default.
        :raises VendorError: compilation failed; ``details`` is the compiler's log.
        :raises UnavailableError: no compiler is available.
        :raises ArgumentError: a text contains a NUL character, or there is no such device.
        """
        self._instance.check_device(device, "kernel.compile")
        if language is None:
            language = next(iter(self.properties(device).languages), "")
        keep: list[CData] = []

        def chars(value: str, parameter: str) -> CData:
            if "\0" in value:
                raise ArgumentError(
                    f"[kernel.compile] {parameter} contains a NUL character",
                    operator="kernel.compile",
                    parameter=parameter,
                )
            keep.append(ffi.new("char[]", value.encode()))
            return keep[-1]

        raw = ffi.new("dl_kernel_source_t*")
        raw.struct_size = ffi.sizeof("dl_kernel_source_t")
        raw.language = chars(language, "language")
        raw.name = chars(name, "name")
        raw.text = chars(source, "source")
        words = ffi.new("const char*[]", [chars(word, "options") for word in options])
        raw.options, raw.option_count = words, len(options)
        listed = ffi.new("dl_kernel_header_t[]", len(headers or {}))
        for entry, (called, content) in zip(listed, (headers or {}).items(), strict=True):
            entry.name, entry.text = chars(called, "headers"), chars(content, "headers")
        raw.headers, raw.header_count = listed, len(listed)
        raw.seconds = seconds
        code = ffi.new("dl_kernel_code_t**")
        self._slots.call("compile", device, raw, code)
        made = code[0]
        try:
            return KernelCode(
                bytes=bytes(ffi.buffer(made.bytes, made.size)),
                log=ffi.string(made.log).decode() if made.log != ffi.NULL else "",
                cached=bool(made.flags & constants.DL_KERNEL_CODE_CACHED),
            )
        finally:
            made.release(made)

    def load(self, code: KernelCode | bytes, device: int = 0) -> KernelModule:
        """Load code, which then runs with the rights of this process.

        :raises VendorError: it is not code for this vendor.
        :raises ArgumentError: there is no such device.
        """
        return KernelModule(self, code.bytes if isinstance(code, KernelCode) else code, device)


class KernelModule:
    """Code on a device; unloaded with the last reference to it or to a function of it."""

    def __init__(self, kernels: Kernels, code: bytes, device: int) -> None:
        instance, slots = kernels._instance, kernels._slots
        self._instance, self._slots = instance, slots
        self.device = instance.check_device(device, "kernel.load")
        self._pointer = create_owned(
            self,
            instance,
            lambda pointer: slots.call("load", device, ffi.from_buffer(code), len(code), pointer),
            lambda module: slots.call("unload", device, module),
            "kernel module",
        )

    def function(self, name: str) -> KernelFunction:
        """Return a function that the source exports.

        :raises VendorError: there is no function of that name.
        """
        return KernelFunction(self, name)


class KernelFunction:
    """A function of a module.

    :ivar name: name in the source.
    """

    def __init__(self, module: KernelModule, name: str) -> None:
        self.name = name
        self._module = module
        self._instance, self._slots = module._instance, module._slots
        found = ffi.new("void**")
        self._slots.call(
            "find", module.device, module._pointer, ffi.new("char[]", name.encode()), found
        )
        self._pointer = found[0]

    @property
    def properties(self) -> FunctionProperties:
        """Return the function's registers, spills and limits."""
        raw = ffi.new("dl_kernel_function_properties_t*")
        raw.struct_size = ffi.sizeof("dl_kernel_function_properties_t")
        self._slots.call("function_properties", self._module.device, self._pointer, raw)

        def known(field: str) -> int | None:
            value = int(getattr(raw, field))
            return None if value < 0 else value

        return FunctionProperties(**{f: known(f) for f in FunctionProperties.__dataclass_fields__})

    def __call__(
        self,
        *arguments: Any,
        grid: int | Sequence[int] = 1,
        block: int | Sequence[int] = 1,
        shared_bytes: int = 0,
        stream: Stream | None = None,
        synchronize: bool = True,
    ) -> None:
        """Launch the function.

        :param arguments: tensors, numpy scalars, Python numbers and None. A tensor is passed as
            the address of its element 0, None as NULL, an int as int64, a float as double, a bool
            as bool, and a structure, which is a numpy scalar too, unchanged.
        :param grid: blocks, in up to three dimensions.
        :param block: threads of a block, in up to three dimensions.
        :param shared_bytes: dynamic shared memory per block.
        :param synchronize: wait for the launch; False: return once it is enqueued.
        :raises ArgumentError: a value cannot be passed; nothing was enqueued.
        :raises VendorError: the launch or the synchronization failed.
        """
        instance, device = self._instance, self._module.device
        packed, layout, tensors = _pack(arguments)
        for tensor in tensors:
            if tensor.storage.instance is not instance or tensor.device not in (None, device):
                raise _refused(f"{tensor!r} is not on device {device} of {instance.name}")
        queue = stream.pointer_for(instance, device) if stream is not None else ffi.NULL
        raw = ffi.new("dl_kernel_launch_t*")
        raw.struct_size = ffi.sizeof("dl_kernel_launch_t")
        raw.grid, raw.block = _three("grid", grid), _three("block", block)
        raw.shared_bytes = shared_bytes
        raw.stream = queue
        raw.arguments, raw.argument_bytes = packed, len(packed)
        raw.layout, raw.argument_count = layout, len(layout)
        instance.lifetime.hold()
        try:
            self._slots.call("launch", device, self._pointer, raw)
            instance.enqueued(device, queue, [*tensors, self, stream])
            if synchronize:
                instance.wait(device, queue)
        finally:
            instance.lifetime.drop()

    def __repr__(self) -> str:
        return f"<kernel {self.name} of vendor {self._instance.name}>"


def _refused(why: str) -> ArgumentError:
    return ArgumentError(f"[kernel.launch] {why}", operator="kernel.launch", parameter="arguments")


def _three(name: str, given: int | Sequence[int]) -> list[int]:
    values = [given] if isinstance(given, int) else list(given)
    if not 1 <= len(values) <= 3 or not all(isinstance(v, int) and 0 < v < 1 << 32 for v in values):
        raise ArgumentError(
            f"[kernel.launch] {name}={given!r} is not one to three positive integers of 32 bits",
            operator="kernel.launch",
            parameter=name,
        )
    return values + [1] * (3 - len(values))


def _pack(arguments: Sequence[Any]) -> tuple[CData, CData, list[Tensor]]:
    """Pack the arguments with C alignment; return the bytes, their offsets, and the tensors."""
    packed, places, tensors = bytearray(), [], []
    for position, argument in enumerate(arguments):
        kind = constants.DL_KERNEL_VALUE
        if argument is None or isinstance(argument, Tensor):
            kind, address = constants.DL_KERNEL_MEMORY, 0
            if argument is not None:
                tensors.append(argument)
                address = argument.address
            value = address.to_bytes(8, "little")
        else:
            value = _value(position, argument)
        packed += bytes(-len(packed) % min(len(value), 16))
        places.append((len(packed), len(value), kind, 0))
        packed += value
    memory = aligned_bytes(len(packed))
    memory[:] = packed
    return ffi.from_buffer(memory), ffi.new("dl_kernel_argument_t[]", places), tensors


def _value(position: int, argument: Any) -> bytes:
    if isinstance(argument, bool):
        argument = np.bool_(argument)
    elif isinstance(argument, int) and -(1 << 63) <= argument < 1 << 63:
        argument = np.int64(argument)
    elif isinstance(argument, float):
        argument = np.float64(argument)
    if not isinstance(argument, np.generic) or argument.dtype.kind not in "biufcV":
        raise _refused(
            f"argument {position} is {argument!r}, which is not a tensor, a number of 64 bits or a "
            "numpy scalar"
        )
    return argument.tobytes()

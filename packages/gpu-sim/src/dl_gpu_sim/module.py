"""Kernels of a PTX text, to be launched on numpy arrays."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._native import load
from .report import Finding

Size = int | tuple[int, ...]
Argument = np.ndarray[Any, Any] | np.generic | int | float | bool


class PtxError(ValueError):
    """A text that is no PTX, or has what the simulator does not know; names the line."""


class LaunchError(ValueError):
    """A launch whose arguments do not fit the kernel."""


@dataclass(frozen=True)
class Kernel:
    """What is known of a kernel without running it."""

    name: str
    registers: int
    """Of PTX, which are more than a card needs."""
    shared: int
    """Bytes of shared memory that it declares."""
    dynamic_shared: bool
    """Whether the launch gives it more."""
    local: int
    """Bytes of local memory of a thread."""
    instructions: int
    parameters: tuple[tuple[int, int], ...]
    """Offset and bytes of each."""
    opcodes: Mapping[str, int]
    unsupported: tuple[str, ...]
    """One message for each instruction that the simulator does not know."""


@dataclass(frozen=True)
class Result:
    """What a launch did beside its work."""

    outcome: str
    """``done``, or what a card would stop it for: ``illegal address``, ``timeout``, …"""
    output: str
    """What the kernel printed."""
    findings: tuple[Finding, ...]
    same_value_writes: int
    """Races in which all write what is there already."""
    instructions: int
    """Of warps."""


class Module:
    """A PTX text on a device of its own.

    :param ptx: the text.
    :raises PtxError: it is none.
    """

    def __init__(self, ptx: str) -> None:
        self._ffi, self._library = load()
        encoded = ptx.encode()
        if b"\0" in encoded:
            raise PtxError("[Module] a PTX text holds no zero byte")
        self._module = self._library.dl_gpu_sim_open(encoded)
        if not self._module:
            raise PtxError(f"[Module] {self._error()}")
        self._kernels: dict[str, Kernel] | None = None

    def close(self) -> None:
        """Give the device's memory back; the module cannot be used any more."""
        module, self._module = self._module, None
        if module:
            self._library.dl_gpu_sim_close(module)

    def __enter__(self) -> Module:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_module", None):
            self.close()

    def _error(self) -> str:
        return str(self._ffi.string(self._library.dl_gpu_sim_error()).decode(errors="replace"))

    def _open(self) -> Any:
        if not self._module:
            raise LaunchError("[Module] it is closed")
        return self._module

    @property
    def kernels(self) -> Mapping[str, Kernel]:
        """All kernels by name. Decodes them."""
        if self._kernels is None:
            text = self._library.dl_gpu_sim_describe(self._open())
            if not text:
                raise PtxError(f"[Module] {self._error()}")
            records = json.loads(self._ffi.string(text).decode())
            self._kernels = {record["name"]: _kernel(record) for record in records}
        return self._kernels

    def launch(
        self,
        name: str,
        grid: Size,
        block: Size,
        args: Sequence[Argument] = (),
        *,
        dynamic_shared: int = 0,
        cooperative: bool = False,
        seed: int = 1,
        steps: int = 0,
        uninitialised: Sequence[int] = (),
    ) -> Result:
        """Run a kernel to its end.

        Arrays are copied to the device, and back when it has ended; scalars are passed in the width
        of the parameter, Python's floats as float32 or float64 by that width.

        :param grid: blocks, one to three sizes; ``block``: threads of each, likewise.
        :param dynamic_shared: bytes of shared memory beside what the kernel declares.
        :param cooperative: all blocks run at once.
        :param seed: of the order of blocks and warps.
        :param steps: instructions of warps after which the kernel counts as endless.
        :param uninitialised: positions of arrays whose contents the device does not get.
        :raises LaunchError: the arguments do not fit, or there is no such kernel.
        """
        module = self._open()
        if name not in self.kernels:
            known = ", ".join(self.kernels) or "none"
            raise LaunchError(f"[launch] there is no kernel '{name}'; kernels are: {known}")
        kernel = self.kernels[name]
        if len(args) != len(kernel.parameters):
            raise LaunchError(
                f"[launch] '{name}' has {len(kernel.parameters)} parameters, got {len(args)}"
            )
        sizes = [*_sizes("grid", grid), *_sizes("block", block)]
        if not 0 < sizes[3] * sizes[4] * sizes[5] <= 1024 or min(sizes) < 1:
            raise LaunchError(f"[launch] grid {grid} and block {block}: 1 to 1024 threads a block")
        extent = max((offset + count for offset, count in kernel.parameters), default=0)
        packed = bytearray(extent)
        placed: list[tuple[np.ndarray[Any, Any], int]] = []
        try:
            for position, (value, (offset, count)) in enumerate(
                zip(args, kernel.parameters, strict=True)
            ):
                if isinstance(value, np.ndarray):
                    address = self._put(module, value, position not in uninitialised)
                    placed.append((value, address))
                    data = struct.pack("<Q", address)
                else:
                    data = _scalar(name, position, value, count)
                if len(data) != count:
                    raise LaunchError(
                        f"[launch] parameter {position} of '{name}' has {count} bytes,"
                        f" got {len(data)}"
                    )
                packed[offset : offset + count] = data
            text = self._library.dl_gpu_sim_launch(
                *(module, name.encode(), sizes, dynamic_shared, cooperative, seed, steps),
                *(self._ffi.from_buffer(packed), len(packed)),
            )
            if not text:
                raise LaunchError(f"[launch] {self._error()}")
            record = json.loads(self._ffi.string(text).decode())
            for array, address in placed:
                self._take(module, array, address)
        finally:
            for _, address in placed:
                self._library.dl_gpu_sim_drop(module, address)
        return Result(
            outcome=record["outcome"],
            output=record["output"],
            findings=tuple(Finding.read(each) for each in record["findings"]),
            same_value_writes=record["same_value_writes"],
            instructions=record["instructions"],
        )

    def _put(self, module: Any, array: np.ndarray[Any, Any], initialised: bool) -> int:
        if not array.flags.c_contiguous or not array.flags.writeable:
            raise LaunchError("[launch] an array has to be contiguous and writable")
        data = self._ffi.from_buffer(array) if initialised else self._ffi.NULL
        address = self._library.dl_gpu_sim_put(module, data, array.nbytes)
        if not address:
            raise LaunchError(f"[launch] {array.nbytes} bytes for an array: {self._error()}")
        return int(address)

    def _take(self, module: Any, array: np.ndarray[Any, Any], address: int) -> None:
        target = self._ffi.from_buffer(array, require_writable=True)
        self._library.dl_gpu_sim_take(module, address, target, array.nbytes)


def _kernel(record: Mapping[str, Any]) -> Kernel:
    return Kernel(
        name=record["name"],
        registers=record["registers"],
        shared=record["shared"],
        dynamic_shared=record["dynamic_shared"],
        local=record["local"],
        instructions=record["instructions"],
        parameters=tuple((offset, count) for offset, count in record["parameters"]),
        opcodes=record["opcodes"],
        unsupported=tuple(record["unsupported"]),
    )


def _sizes(what: str, given: Size) -> tuple[int, int, int]:
    sizes = (given,) if isinstance(given, int) else tuple(given)
    if not 1 <= len(sizes) <= 3:
        raise LaunchError(f"[launch] {what} {given} has not one to three sizes")
    first, second, third = (*sizes, 1, 1)[:3]
    return first, second, third


def _scalar(name: str, position: int, value: np.generic | float, count: int) -> bytes:
    if isinstance(value, np.generic):
        return value.tobytes()
    if isinstance(value, float):
        if count in (4, 8):
            return struct.pack("<f" if count == 4 else "<d", value)
    elif count in (1, 2, 4, 8):
        return (int(value) & (1 << 8 * count) - 1).to_bytes(count, "little")
    raise LaunchError(
        f"[launch] parameter {position} of '{name}' has {count} bytes: pass numpy bytes in place of"
        f" {value!r}"
    )

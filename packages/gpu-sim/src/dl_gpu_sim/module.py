"""Kernels of a PTX text, which are launched on numpy arrays."""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._native import load
from .packing import MOST_SHARED, Argument, LaunchError, Size, check_array, scalar, sizes_of, whole
from .report import Finding
from .settings import read


class PtxError(ValueError):
    """A text is not PTX, or uses unsupported features; the message names the line."""


@dataclass(frozen=True)
class Kernel:
    """Static properties of a kernel."""

    name: str
    registers: int
    """Number of registers in the PTX text; a GPU needs fewer."""
    shared: int
    """Size of its static shared memory in bytes."""
    dynamic_shared: bool
    """True if it uses dynamic shared memory."""
    local: int
    """Size of a thread's local memory in bytes."""
    instructions: int
    parameters: tuple[tuple[int, int], ...]
    """Offset and size of each parameter in bytes."""
    opcodes: Mapping[str, int]
    unsupported: tuple[str, ...]
    """One message for each unsupported instruction."""


@dataclass(frozen=True)
class Result:
    """Outcome of a launch."""

    outcome: str
    """``done``, or the error that would stop the kernel on a GPU, such as ``illegal address``."""
    output: str
    """Output of the kernel."""
    findings: tuple[Finding, ...]
    same_value_writes: int
    """Number of races in which all writes put the value that is already there."""
    instructions: int
    """Number of instructions, counted per warp."""


class Module:
    """PTX module on its own simulated device.

    :param ptx: the text.
    :raises PtxError: the text is not valid PTX.
    :raises ValueError: a variable ``DL_GPU_SIM_...`` has an invalid value.
    """

    def __init__(self, ptx: str) -> None:
        self._ffi, self._library = load()
        read()
        if not isinstance(ptx, str):
            raise PtxError(f"[Module] a PTX text is a str, got {type(ptx).__name__}")
        encoded = ptx.encode(errors="surrogateescape")
        if b"\0" in encoded:
            raise PtxError("[Module] a PTX text must not contain a zero byte")
        self._module = self._library.dl_gpu_sim_open(encoded)
        if not self._module:
            raise PtxError(f"[Module] {self._error()}")
        self._kernels: dict[str, Kernel] | None = None

    def close(self) -> None:
        """Free the device's memory. The module can no longer be used."""
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
            raise LaunchError("[Module] the module is closed")
        return self._module

    @property
    def kernels(self) -> Mapping[str, Kernel]:
        """Decode all kernels, and return them by name."""
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
        seed: int | None = None,
        steps: int | None = None,
        uninitialised: Sequence[int] = (),
    ) -> Result:
        """Run a kernel to its end, or until Python is interrupted.

        Arrays are copied to the device before the launch and back after it. Scalars have the width
        of their parameter; Python floats become float32 or float64.

        :param grid: number of blocks, one to three sizes.
        :param block: number of threads per block, one to three sizes.
        :param dynamic_shared: size of dynamic shared memory in bytes.
        :param cooperative: whether all blocks run concurrently.
        :param seed: seed of the order of blocks and warps (default: ``DL_GPU_SIM_SEED``, or 1).
        :param steps: number of warp instructions after which the kernel counts as endless (default:
            ``DL_GPU_SIM_STEPS``, or 2^32).
        :param uninitialised: positions of arrays that are not copied to the device.
        :raises LaunchError: the arguments do not match the kernel, or the kernel does not exist.
        :raises ValueError: a variable ``DL_GPU_SIM_...`` has an invalid value.
        """
        module = self._open()
        if name not in self.kernels:
            known = ", ".join(self.kernels) or "none"
            raise LaunchError(f"[launch] no kernel '{name}'; kernels are: {known}")
        kernel = self.kernels[name]
        if not isinstance(args, tuple | list):
            raise LaunchError(f"[launch] '{name}': args must be a list or tuple, got {args!r:.80}")
        if len(args) != len(kernel.parameters):
            raise LaunchError(
                f"[launch] '{name}' has {len(kernel.parameters)} parameters, got {len(args)}"
            )
        for position in uninitialised:
            if position not in range(len(args)):
                raise LaunchError(
                    f"[launch] '{name}': uninitialised names parameter {position!r}, and there are"
                    f" {len(args)}"
                )
        settings = read()
        sizes = sizes_of(name, grid, block)
        numbers = (
            whole(name, "dynamic_shared", dynamic_shared, MOST_SHARED),
            bool(cooperative),
            whole(name, "seed", settings.seed if seed is None else seed, 2**64 - 1),
            whole(name, "steps", settings.steps if steps is None else steps, 2**64 - 1),
        )
        extent = max((offset + count for offset, count in kernel.parameters), default=0)
        packed = bytearray(extent)
        placed: list[tuple[np.ndarray[Any, Any], int]] = []
        try:
            for position, (value, (offset, count)) in enumerate(
                zip(args, kernel.parameters, strict=True)
            ):
                where = f"parameter {position} of '{name}'"
                if isinstance(value, np.ndarray):
                    address = self._upload(module, where, value, position not in uninitialised)
                    placed.append((value, address))
                    if count != 8:
                        raise LaunchError(f"[launch] {where} has {count} bytes, got an array")
                    data = struct.pack("<Q", address)
                else:
                    data = scalar(where, value, count)
                packed[offset : offset + count] = data
            record = json.loads(self._run(module, name.encode(), sizes, numbers, packed))
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

    def _run(
        self,
        module: Any,
        name: bytes,
        sizes: Sequence[int],
        numbers: tuple[int, bool, int, int],
        packed: bytearray,
    ) -> str:
        """Launch on a separate thread, because Python cannot handle signals while it waits in C.

        :raises LaunchError: the launch could not begin.
        """
        stop = self._ffi.new("int*")
        told: list[str] = []
        failed: list[str] = []
        running = threading.Lock()

        def run() -> None:
            with running:
                if stop[0]:
                    return
                text = self._library.dl_gpu_sim_launch(
                    *(module, name, sizes, *numbers, stop),
                    *(self._ffi.from_buffer(packed), len(packed)),
                )
                # Returned strings and the error are thread-local, so read them here.
                if text:
                    told.append(self._ffi.string(text).decode())
                else:
                    failed.append(self._error())

        thread = threading.Thread(target=run, name="dl-gpu-sim launch")
        try:
            thread.start()
            thread.join()
        except BaseException:
            stop[0] = 1
            # Wait for the kernel, which uses memory of this call. If the thread has not begun yet,
            # it will see that the launch was interrupted.
            with running:
                pass
            raise
        if not told:
            raise LaunchError(f"[launch] {''.join(failed)}")
        return told[0]

    def _upload(
        self, module: Any, where: str, array: np.ndarray[Any, Any], initialised: bool
    ) -> int:
        check_array(where, array)
        data = self._ffi.from_buffer(array) if initialised else self._ffi.NULL
        address = self._library.dl_gpu_sim_put(module, data, array.nbytes)
        if not address:
            raise LaunchError(f"[launch] {where}: {array.nbytes} bytes: {self._error()}")
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

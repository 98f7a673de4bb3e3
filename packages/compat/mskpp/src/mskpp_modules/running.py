"""Worker process: loads a library, launches its kernel, and compares two kernels."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cffi import FFI
from numpy.typing import NDArray

from dl_autotune import TuningError
from dl_autotune.observers import RaceSettings, race

from .arguments import Packed
from .device_running import DevicePrepared
from .devices import Target

_GUARD = 4096
_ROUNDINGS = 32
_DECLARED = """
size_t dl_mskpp_count();
size_t dl_mskpp_size(size_t at);
void dl_mskpp_launch(int64_t blocks, void** arguments);
"""


@dataclass(frozen=True)
class Launch:
    """Request for the arrays that a launch writes, by argument position."""

    path: Path
    target: Target
    blocks: tuple[int, int]
    arguments: list[Packed]
    repeat: int = 1


@dataclass(frozen=True)
class Compare:
    """Request to time a candidate against the unmodified kernel.

    :ivar warmup: warm-up time in microseconds.
    """

    path: Path
    baseline: Path
    target: Target
    blocks: tuple[int, int]
    arguments: list[Packed]
    warmup: float
    settings: RaceSettings
    seed: int


class HostPrepared:
    """Loaded library of the host with copies of the arguments, whose arrays have guard bands."""

    def __init__(self, path: Path, blocks: int, arguments: list[Packed]) -> None:
        self._ffi = FFI()
        self._ffi.cdef(_DECLARED)
        try:
            self._library = self._ffi.dlopen(str(path))
            wanted = self._library.dl_mskpp_count()
        except (OSError, AttributeError) as error:
            raise TuningError(f"{path.name} is not a kernel of mskpp.compile: {error}") from error
        if wanted != len(arguments):
            raise TuningError(
                f"the kernel takes {wanted} arguments, but {len(arguments)} were given"
            )
        self._blocks, self._given, self._kept = blocks, arguments, []
        self._around: list[NDArray[np.uint8]] = []
        self._table = self._ffi.new("void*[]", max(wanted, 1))
        for at, value in enumerate(arguments):
            there = self._value(value)
            size = self._library.dl_mskpp_size(at)
            if size != len(there):
                raise TuningError(
                    f"argument {at} has {len(there)} bytes, but the kernel's parameter has {size}"
                )
            self._kept.append(self._ffi.new("char[]", bytes(there)))
            self._table[at] = self._kept[-1]

    def _value(self, value: Packed) -> bytes:
        if isinstance(value, bytes):
            self._around.append(np.empty(0, np.uint8))
            return value
        around = np.full(value.nbytes + 2 * _GUARD + 64, 0xA5, np.uint8)
        around = around[-around.ctypes.data % 64 :][: value.nbytes + 2 * _GUARD]
        around[_GUARD:-_GUARD] = value.reshape(-1).view(np.uint8)
        self._around.append(around)
        address = around.ctypes.data + _GUARD
        return address.to_bytes(8, "little")

    def __call__(self) -> float:
        """Launch the kernel, and return the time in seconds."""
        start = time.perf_counter()
        self._library.dl_mskpp_launch(self._blocks, self._table)
        return time.perf_counter() - start

    def arrays(self) -> dict[int, NDArray[Any]]:
        """Return the current arrays.

        :raises TuningError: the kernel wrote outside an array.
        """
        found = {}
        for at, (value, around) in enumerate(zip(self._given, self._around, strict=True)):
            if isinstance(value, bytes):
                continue
            if (around[:_GUARD] != 0xA5).any() or (around[-_GUARD:] != 0xA5).any():
                raise TuningError(f"it writes outside argument {at}")
            inside = around[_GUARD:-_GUARD].copy()
            found[at] = inside.view(value.dtype).reshape(value.shape)
        return found


Prepared = HostPrepared | DevicePrepared


def prepare(target: Target, path: Path, blocks: tuple[int, int], given: list[Packed]) -> Prepared:
    """Load a kernel with copies of its arguments.

    :param blocks: number of blocks, and of threads in a block.
    :raises TuningError: it cannot be loaded, or the arguments do not fit.
    """
    if target.is_host:
        return HostPrepared(path, blocks[0], given)
    return DevicePrepared(target, path, blocks, given)


def serve() -> Callable[[Any], Any]:
    """Return the handler of requests."""

    def handle(request: Launch | Compare) -> Any:
        if isinstance(request, Launch):
            made = prepare(request.target, request.path, request.blocks, request.arguments)
            for _ in range(request.repeat):
                made()
            return made.arrays()
        return _compare(request)

    return handle


def _compare(request: Compare) -> Any:
    baseline, candidate = (
        prepare(request.target, path, request.blocks, request.arguments)
        for path in (request.baseline, request.path)
    )
    baseline()
    expected = baseline.arrays()
    _judge(request, expected, "")
    for each in (baseline, candidate):
        spent = 0.0
        while 1e6 * spent < request.warmup:
            spent += each()
    found = race(baseline, candidate, request.settings, seed=request.seed)
    _judge(request, expected, "correct before timing, but not after it: ")
    return found


def _judge(request: Compare, expected: dict[int, NDArray[Any]], when: str) -> None:
    """Check that a launch with the same arguments has the same results up to rounding."""
    made = prepare(request.target, request.path, request.blocks, request.arguments)
    made()
    try:
        actual = made.arrays()
    except TuningError as error:
        raise TuningError(f"{when}{error}") from error
    for at, array in actual.items():
        wanted, given = expected[at], request.arguments[at]
        assert not isinstance(given, bytes)
        if wanted.tobytes() == given.tobytes() != array.tobytes():
            raise TuningError(f"{when}it changes its input, argument {at}")
        if wrong := _wrong(array, wanted):
            raise TuningError(
                f"{when}argument {at} is wrong: {wrong} of {array.size} elements differ from those"
                " of the unmodified kernel"
            )


def _wrong(actual: NDArray[Any], wanted: NDArray[Any]) -> int:
    """Return the number of elements that differ by more than a few rounding steps of the
    largest."""
    if wanted.dtype.kind not in "fc":
        return int((actual != wanted).sum())
    finite = np.abs(wanted[np.isfinite(wanted)]).astype(np.float64)
    largest = float(finite.max(initial=0.0))
    allowed = _ROUNDINGS * float(np.finfo(wanted.dtype).eps) * largest
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.abs(actual.astype(wanted.dtype) - wanted).astype(np.float64) <= allowed
    same = (actual == wanted) | (np.isnan(actual) & np.isnan(wanted))
    return int((~(close | same)).sum())

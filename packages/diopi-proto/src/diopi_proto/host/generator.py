"""The state of a random number generator: a Philox seed and offset."""

from __future__ import annotations

import itertools
import operator
import threading

from ..errors import ArgumentError
from .cabi import constants, ffi
from .handle_ops import handle_ops
from .structs import CData

_order = itertools.count()


def _checked(parameter: str, value: int, bits: int = 64) -> int:
    if not isinstance(value, bool) and hasattr(type(value), "__index__"):
        number = operator.index(value)
        if 0 <= number < 1 << bits:
            return number
    raise ArgumentError(
        f"[Generator] {parameter} is a {type(value).__name__} that is not an integer from 0 to "
        f"2**{bits} - 1",
        operator="Generator",
        parameter=parameter,
    )


class Generator:
    """Philox4x32-10 with key = seed; ``offset`` counts 128-bit counter steps already consumed.

    The same seed and offset give the same numbers on every vendor. An operator that draws moves the
    offset. A call locks its generators, so that threads may share one.

    :param seed: key, an unsigned 64-bit integer.
    :param offset: counter, an unsigned 64-bit integer.
    :param device: device index in the vendor's numbering, for vendors that read it.
    """

    def __init__(self, seed: int = 0, offset: int = 0, *, device: int = 0) -> None:
        self.lock = threading.RLock()
        self.order = next(_order)  # calls lock several generators in this order
        self._prefix = ffi.new("dl_generator_prefix_t*")
        self._prefix.magic = constants.DL_GENERATOR_MAGIC
        self._prefix.version = constants.DL_PREFIX_VERSION
        self._prefix.ops = handle_ops()
        self._prefix.device_index = _checked("device", device, 31)
        self.seed = seed
        self.offset = offset
        self.handle: CData = ffi.cast("diopiGeneratorHandle_t", self._prefix)
        """``diopiGeneratorHandle_t``, valid as long as this object."""

    @property
    def seed(self) -> int:
        """The key."""
        return int(self._prefix.seed)

    @seed.setter
    def seed(self, value: int) -> None:
        self._prefix.seed = _checked("seed", value)

    @property
    def offset(self) -> int:
        """Return the number of counter steps consumed."""
        return int(self._prefix.offset)

    @offset.setter
    def offset(self, value: int) -> None:
        self._prefix.offset = _checked("offset", value)

    def __repr__(self) -> str:
        return f"Generator(seed={self.seed}, offset={self.offset})"

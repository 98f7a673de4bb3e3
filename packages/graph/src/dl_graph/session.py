"""Sessions that run graphs on a vendor, with numpy arrays as inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diopi_proto.dtypes import Array
from diopi_proto.host.structs import CData

from .bound import BoundRun
from .model import raise_status
from .native import ffi, native
from .open_session import OpenSession


class Session(OpenSession):
    """Context manager: a graph on a device, with its constants, states and generators.

    Runs of one session are serialized, even from several threads.

    :param stream: stream for all work; None for the default stream.
    :param poison: fill temporaries and outputs with garbage before each run, for tests that detect
        reads of uninitialized memory.
    :param whole: run every call as a whole instead of block by block.
    :param blocks: run a call block by block whenever possible, even if it is slower, for tests.
    :raises OperatorNotBoundError: the vendor has an operator with another signature.
    :raises GraphError: the vendor lacks an operator or a function that the graph needs.
    """

    def run(
        self,
        entry: str,
        inputs: Mapping[str, Any],
        sizes: Mapping[str, int] | None = None,
    ) -> dict[str, Array]:
        """Run an entry and wait for it.

        :param inputs: arrays, or tensors of this vendor, by name. An array is converted to the
            input's dtype; an array that the graph mutates must have that dtype.
        :param sizes: sizes of the symbols that are not a size of any input.
        :returns: the outputs by name, in numpy's representation of their dtypes.
        :raises GraphError: an input does not fit, a guard does not hold, or an operator failed.
        """
        bound = self.bind(entry, inputs, sizes)
        with self.lock:
            bound.run()
            return bound.outputs()

    def bind(
        self,
        entry: str,
        inputs: Mapping[str, Any],
        sizes: Mapping[str, int] | None = None,
    ) -> BoundRun:
        """Bind an entry to its inputs, to run it many times. Arrays are copied only if they must be
        converted.

        :raises GraphError: an input is missing or does not fit.
        """
        return BoundRun(self, entry, inputs, sizes or {})

    def reset(self) -> None:
        """Set all states to their initial values."""
        with self.lock:
            raise_status(native().dl_contract_session_reset(self.handle()))

    def state(self, name: str) -> Array:
        """Return a copy of a state as bytes, which can be viewed as its dtype.

        :raises GraphError: the graph has no state of that name.
        """
        tensor = ffi.new("dl_contract_tensor_t*")
        with self.lock:
            raise_status(native().dl_contract_session_state(self.handle(), name.encode(), tensor))
            return self.read(tensor)

    def seed(self, name: str, seed: int, offset: int = 0) -> None:
        """Set the seed and the offset of a generator, both from 0 to 2**64 - 1.

        :raises GraphError: the graph has no generator of that name.
        """
        generator = self._generator(name)
        generator.seed, generator.offset = seed, offset

    def offset(self, name: str) -> int:
        """Return the number of consumed steps of a generator."""
        return int(self._generator(name).offset)

    def __enter__(self) -> Session:
        return self

    def _generator(self, name: str) -> CData:
        out = ffi.new("dl_generator_prefix_t**")
        with self.lock:
            raise_status(native().dl_contract_session_generator(self.handle(), name.encode(), out))
        return out[0]

"""The public class of a loaded vendor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy.typing as npt

from ..adaptor import AdaptorFile
from ..adaptor.native import Conversion
from ..added import AddedOperator
from ..choices import Choices
from ..constants import Constants
from ..dtypes import Dtype
from ..errors import NotSupportedError
from . import instance as capability
from .arrays import empty, from_array
from .cabi import constants, ffi
from .communicators import Communicators
from .devices import DeviceProperties, read_properties
from .extensions import extension_of
from .graphs import Graphs
from .guard import Guard
from .instance import Instance
from .kernels import Kernels
from .legacy import LegacyInstance
from .operators import OperatorNamespace, Operators
from .peers import Peers
from .profiler import Profiler
from .sparse import csr_of_parts
from .streams import Event, Stream
from .structs import Slots
from .tableinstance import TableInstance
from .tensor import Tensor


class Vendor:
    """Instance of a vendor library, created by :func:`load_vendor`; a context manager that closes
    it.

    Threads may share it. Tensors of one instance cannot be used by another, even of the same
    library.

    :ivar path: path of the library.
    :ivar name: name of the vendor.
    :ivar version: version of the library, for messages.
    :ivar capabilities: bits of ``DL_CAP_*``.
    :ivar operators: all operators of the contract, bound or unbound, by name.
    :ivar op: the bound operators as attributes.
    """

    def __init__(self, instance: Instance, path: Path) -> None:
        self._instance = instance
        self.path = path
        self.name = instance.name
        self.version = instance.version
        self.capabilities = instance.capabilities
        self.operators: Mapping[str, bool] = Operators(instance)
        self.op = OperatorNamespace(instance)

    @property
    def mismatched(self) -> Mapping[str, str]:
        """Return operators that are not bound because of another signature, with reason and
        remedy.
        """
        return dict(self._instance.mismatched)

    @property
    def unknown_operators(self) -> frozenset[str]:
        """Return operators of the library that are not in this host's schema."""
        instance = self._instance
        return instance.unknown if isinstance(instance, TableInstance) else frozenset()

    @property
    def adaptor(self) -> AdaptorFile | None:
        """Return the adaptor; None without an adaptor file."""
        instance = self._instance
        found = instance.adaptor if isinstance(instance, TableInstance) else None
        return None if found is None else found.file

    def conversions(self) -> list[Conversion]:
        """Return the adaptor's conversions since the vendor was loaded or the counts were reset."""
        instance = self._instance
        found = instance.adaptor if isinstance(instance, TableInstance) else None
        return [] if found is None else found.conversions()

    def reset_conversions(self) -> None:
        """Reset the counts of conversions."""
        instance = self._instance
        if isinstance(instance, TableInstance) and instance.adaptor is not None:
            instance.adaptor.reset()

    def added_operators(self) -> list[AddedOperator]:
        """Return the operators that libraries add to the vendor's own."""
        instance = self._instance
        layer = instance.added if isinstance(instance, TableInstance) else None
        return [] if layer is None else layer.operators()

    @property
    def is_legacy(self) -> bool:
        """Return True for a library in DIOPI's own style."""
        return isinstance(self._instance, LegacyInstance)

    @property
    def slots(self) -> Slots:
        """The slots of the table, without checks of arguments: for tests of a library.

        :raises NotSupportedError: the library has no table.
        """
        return self._table("slots").slots

    @property
    def host_accessible(self) -> bool:
        """Return True if the host may read and write device memory in place."""
        return self._instance.can(capability.HOST_ACCESSIBLE)

    @property
    def synchronous(self) -> bool:
        """Return True if work is finished when the call that enqueues it returns."""
        return self._instance.can(capability.SYNCHRONOUS)

    @property
    def accepts_any_host_pointer(self) -> bool:
        """Return True if operators accept any host memory."""
        return self._instance.can(capability.ANY_HOST_POINTER)

    @property
    def is_reference(self) -> bool:
        """Return True for a CPU reference, False for an accelerator."""
        return self._instance.can(capability.REFERENCE)

    @property
    def present(self) -> bool:
        """Return True if a driver and a device seem to be present; initialize neither."""
        instance = self._instance
        return instance.present() if isinstance(instance, TableInstance) else True

    @property
    def device_count(self) -> int:
        """Return the number of devices; 0 without a driver."""
        return self._instance.device_count()

    def properties(self, device: int = 0) -> DeviceProperties:
        """Return the properties of a device; empty if the vendor does not support them.

        :raises ArgumentError: there is no such device.
        """
        return read_properties(self._instance, device)

    def memory_info(self, device: int = 0) -> tuple[int, int]:
        """Return the free and total bytes of a device.

        :raises NotSupportedError: the vendor does not report them.
        """
        table = self._table("memory_info")
        table.check_device(device, "memory_info")
        free, total = ffi.new("uint64_t*"), ffi.new("uint64_t*")
        table.slots.call("memory_info", device, free, total)
        return int(free[0]), int(total[0])

    def synchronize(self, device: int = 0) -> None:
        """Wait for all work on a device.

        :raises VendorError: synchronization failed, or earlier work did.
        :raises OperatorError: a call found an error in its data.
        """
        instance = self._instance
        instance.check_device(device, "device_synchronize")
        instance.wait_all(device)
        errors = instance.device_errors
        mark = errors.mark_all(device) if errors is not None else ()
        if isinstance(instance, TableInstance) and instance.slots.has("device_synchronize"):
            instance.slots.call("device_synchronize", device)
        if errors is not None:
            errors.check(mark)

    def stream(self, device: int = 0, *, priority: int = 0) -> Stream:
        """Create a stream; lower priority numbers run first. For a synchronous vendor without
        streams, it is the default stream.

        :raises NotSupportedError: the vendor is asynchronous and has no streams.
        """
        return Stream(self._instance, device, priority)

    def event(self, device: int = 0, *, timing: bool = False) -> Event:
        """Create an event; ``timing`` supports ``elapsed_since``. For a synchronous vendor without
        events, it records the host's clock.

        :raises NotSupportedError: the vendor is asynchronous and has no events.
        """
        return Event(self._instance, device, timing=timing)

    def empty(
        self,
        shape: Sequence[int],
        dtype: Dtype | npt.DTypeLike = "float32",
        *,
        strides: Sequence[int] | None = None,
        device: int | None = 0,
    ) -> Tensor:
        """Create a tensor with undefined contents.

        :param strides: strides in elements; None: row-major.
        :param device: device index; None: host memory (``diopi_host``).
        :raises ArgumentError: a size or stride is negative, the dtype is unknown, or there is no
            such device.
        :raises OutOfMemoryError: memory is exhausted.
        """
        return empty(self._instance, shape, dtype, strides, device)

    def tensor(
        self,
        array: npt.ArrayLike,
        dtype: Dtype | npt.DTypeLike | None = None,
        *,
        device: int | None = 0,
        copy: bool | None = True,
    ) -> Tensor:
        """Create a tensor from an array, with the array's strides if none is negative.

        :param dtype: dtype of the tensor; None: the array's. For ``"bfloat16"``, numbers are
            rounded and ``uint16`` elements are taken as bits.
        :param device: device index; None: host memory (``diopi_host``).
        :param copy: True: copy the memory. None: share it if it is writable and the vendor accepts
            any host pointer, else copy. False: share it, or raise an error.
        :raises ArgumentError: the dtype is unknown, there is no such device, or the memory cannot
            be shared.
        :raises OutOfMemoryError: memory is exhausted.
        """
        return from_array(self._instance, array, dtype, device, copy)

    def sparse_csr(
        self, crow_indices: Tensor, col_indices: Tensor, values: Tensor, shape: Sequence[int]
    ) -> Tensor:
        """Create a sparse CSR tensor from three strided ones, which it keeps alive.

        :param crow_indices: offset of each row's first element, followed by the number of elements;
            int32 or int64, like ``col_indices``. The caller guarantees that indices are in range.
        :param shape: numbers of rows and columns.
        :raises ArgumentError: the parts are on different devices, of another vendor, or do not fit
            each other or the shape.
        """
        return csr_of_parts(self._instance, crow_indices, col_indices, values, shape)

    def call(self, operator: str, /, *arguments: Any, **named: Any) -> Any:
        """Call an operator by its full name, such as ``"diopiAdd"``; see :class:`BoundOperator`.

        :raises ArgumentError: the contract has no such operator, or a value does not fit.
        :raises OperatorNotBoundError: the vendor does not have it, or has it with another
            signature.
        :raises OperatorError: the operator returned an error.
        """
        return self.op[operator](*arguments, **named)

    @property
    def extensions(self) -> frozenset[str]:
        """Return the names of the vendor's extensions: ``"kernel"``, ``"graph"``, ``"profiler"``,
        ``"communicator"``, ``"peer"``, ``"choices"``, ``"constants"``.
        """
        return frozenset(self._instance.extensions)

    @property
    def kernels(self) -> Kernels:
        """Return the kernel extension, which compiles and launches kernels.

        :raises NotSupportedError: the vendor does not have the extension.
        """
        return Kernels(self._instance)

    @property
    def graphs(self) -> Graphs:
        """Return the graph extension, which captures and replays the work of streams.

        :raises NotSupportedError: the vendor does not have the extension.
        """
        return Graphs(self._instance)

    @property
    def profiler(self) -> Profiler:
        """Return the profiler extension, which records the activities of a device.

        :raises NotSupportedError: the vendor does not have the extension.
        """
        return Profiler(self._instance)

    @property
    def communicators(self) -> Communicators:
        """Return the communicator extension: collectives and messages between devices.

        :raises NotSupportedError: the vendor does not have the extension.
        """
        return Communicators(self._instance)

    @property
    def peers(self) -> Peers:
        """Return the peer extension: memory of other devices and processes.

        :raises NotSupportedError: the vendor does not have the extension.
        """
        return Peers(self._instance)

    @property
    def choices(self) -> Choices:
        """Return the choices extension, which selects among the vendor's implementations.

        :raises NotSupportedError: the vendor does not have the extension.
        """
        return Choices(extension_of(self._instance, "choices").call)

    @property
    def constants(self) -> Constants:
        """Return the constants extension: constant memory whose derived data the vendor may cache.

        :raises NotSupportedError: the vendor does not have the extension.
        """
        return Constants(extension_of(self._instance, "constants").call)

    def guard_calls(self, *, salt: int = 0) -> None:
        """Check the writes of operators from now on; slow, for tests of vendors.

        Tensors that are created later get guard bands. A call raises :class:`StrayWriteError` if
        the operator has changed anything but the elements of its outputs, such as a band, a gap
        between elements or an input, or if it has written anything before it returned an error.
        Memory that is shared with an array (``copy=False``) has no bands.

        :param salt: seed of the noise in bands and gaps. An operator whose results change with
            the salt reads bands or gaps.
        """
        self._instance.guard = Guard(salt)

    @contextmanager
    def unguarded(self) -> Iterator[None]:
        """Suspend :meth:`guard_calls` for a check of enqueued work: guarded calls return when done.

        Use it from one thread at a time; tensors that are created meanwhile get no bands.
        """
        instance = self._instance
        guard, instance.guard = instance.guard, None
        try:
            yield
        finally:
            instance.guard = guard

    def close(self) -> None:
        """Wait for the enqueued work and close the instance. Closing twice has no effect.

        Operators cannot be called afterwards. Memory that arrays or tensors still view stays valid:
        the library's instance is destroyed with the last of them, or when the process ends.

        :raises VendorError: the work or the synchronization failed. The instance is closed anyway.
        """
        self._instance.close()

    def __enter__(self) -> Vendor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Vendor {self.name} {self.version} of {self.path}>"

    def _table(self, slot: str) -> TableInstance:
        if isinstance(self._instance, TableInstance):
            self._instance.lifetime.check_open()
            return self._instance
        raise NotSupportedError(
            f"[{slot}] legacy vendor {self.name} does not support this: it works on host memory",
            code=constants.DL_NOT_SUPPORTED,
            operation=slot,
            vendor=self.name,
        )

"""A vendor as users of this host see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy.typing as npt

from ..adaptor import AdaptorFile
from ..adaptor.native import Conversion
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
    """One instance of a vendor library. Made by :func:`load_vendor`; a context manager that closes
    it.

    Threads may share it. Tensors of one instance mean nothing to another, not even of the same
    library.

    :ivar path: the library.
    :ivar name: what the vendor calls itself.
    :ivar version: of the library, for messages.
    :ivar capabilities: bits of ``DL_CAP_*``.
    :ivar operators: every operator of the contract, and whether it is bound.
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
        """Operators not bound because their signature differs, with the reason and the cure."""
        return dict(self._instance.mismatched)

    @property
    def unknown_operators(self) -> frozenset[str]:
        """Operators of the library that this host's schema does not have."""
        instance = self._instance
        return instance.unknown if isinstance(instance, TableInstance) else frozenset()

    @property
    def adaptor(self) -> AdaptorFile | None:
        """Conversions by operator; None without an adaptor file."""
        instance = self._instance
        found = instance.adaptor if isinstance(instance, TableInstance) else None
        return None if found is None else found.file

    def conversions(self) -> list[Conversion]:
        """Counts of conversions since the vendor was loaded or they were reset."""
        instance = self._instance
        found = instance.adaptor if isinstance(instance, TableInstance) else None
        return [] if found is None else found.conversions()

    def reset_conversions(self) -> None:
        """Count them from 0 on."""
        instance = self._instance
        if isinstance(instance, TableInstance) and instance.adaptor is not None:
            instance.adaptor.reset()

    @property
    def is_legacy(self) -> bool:
        """True if it is a library in DIOPI's own style."""
        return isinstance(self._instance, LegacyInstance)

    @property
    def slots(self) -> Slots:
        """The slots of the table, without checks of arguments: for tests of a library.

        :raises NotSupportedError: the library has no table.
        """
        return self._table("slots").slots

    @property
    def host_accessible(self) -> bool:
        """True if the host may read and write device memory in place."""
        return self._instance.can(capability.HOST_ACCESSIBLE)

    @property
    def synchronous(self) -> bool:
        """True if work is finished when the call that enqueues it returns."""
        return self._instance.can(capability.SYNCHRONOUS)

    @property
    def accepts_any_host_pointer(self) -> bool:
        """True if operators work on any host memory."""
        return self._instance.can(capability.ANY_HOST_POINTER)

    @property
    def is_reference(self) -> bool:
        """True if it is a CPU reference and not an accelerator."""
        return self._instance.can(capability.REFERENCE)

    @property
    def present(self) -> bool:
        """Return True if a driver and a device seem to be present; initialize neither."""
        instance = self._instance
        return instance.present() if isinstance(instance, TableInstance) else True

    @property
    def device_count(self) -> int:
        """How many devices there are; 0 without a driver."""
        return self._instance.device_count()

    def properties(self, device: int = 0) -> DeviceProperties:
        """What the vendor says of a device; as much as nothing if it does not offer that.

        :raises ArgumentError: there is no such device.
        """
        return read_properties(self._instance, device)

    def memory_info(self, device: int = 0) -> tuple[int, int]:
        """Free and total bytes of a device.

        :raises NotSupportedError: the vendor does not say.
        """
        table = self._table("memory_info")
        table.check_device(device, "memory_info")
        free, total = ffi.new("uint64_t*"), ffi.new("uint64_t*")
        table.slots.call("memory_info", device, free, total)
        return int(free[0]), int(total[0])

    def synchronize(self, device: int = 0) -> None:
        """Wait for all work on a device.

        :raises VendorError: the wait failed, or work before it did.
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
        """A new stream; lower priorities go first. Those of a synchronous vendor without streams
        are its default stream.

        :raises NotSupportedError: the vendor is asynchronous and has no streams.
        """
        return Stream(self._instance, device, priority)

    def event(self, device: int = 0, *, timing: bool = False) -> Event:
        """A new event; two with ``timing`` can be subtracted. Those of a synchronous vendor without
        events are times of the host's clock.

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
        """A tensor with undefined contents.

        :param strides: in elements; None: row-major.
        :param device: None: host memory (``diopi_host``).
        :raises ArgumentError: a negative size or stride, an unknown dtype, or no such device.
        :raises OutOfMemoryError: there is not so much memory.
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
        """A tensor with an array's elements and, where it has no negative ones, its strides.

        :param dtype: None: the array's. ``"bfloat16"`` rounds numbers and takes ``uint16`` as bits.
        :param device: None: host memory (``diopi_host``).
        :param copy: True: memory of its own. None: the array's memory where that is possible: it is
            writable and the vendor accepts any host pointer. False: the array's memory or an error.
        :raises ArgumentError: an unknown dtype, no such device, or memory that cannot be shared.
        :raises OutOfMemoryError: there is not so much memory.
        """
        return from_array(self._instance, array, dtype, device, copy)

    def sparse_csr(
        self, crow_indices: Tensor, col_indices: Tensor, values: Tensor, shape: Sequence[int]
    ) -> Tensor:
        """A sparse CSR tensor of three dense ones, which it keeps alive.

        :param crow_indices: where each row's elements begin, and where the last row's end; int32 or
            int64, as ``col_indices``. That both lie in bounds is for the caller: nobody reads them
            here.
        :param shape: rows and columns.
        :raises ArgumentError: the parts are on different devices, of another vendor, or do not fit
            each other or the shape.
        """
        return csr_of_parts(self._instance, crow_indices, col_indices, values, shape)

    def call(self, operator: str, /, *arguments: Any, **named: Any) -> Any:
        """Call an operator by its whole name, ``"diopiAdd"``; see :class:`BoundOperator`.

        :raises ArgumentError: the contract has no such operator, or a value does not fit.
        :raises OperatorNotBoundError: the vendor does not have it, or with another signature.
        :raises OperatorError: the operator returned an error.
        """
        return self.op[operator](*arguments, **named)

    @property
    def extensions(self) -> frozenset[str]:
        """What the vendor offers beyond its table: ``"kernel"``, ``"graph"``, ``"profiler"``,
        ``"communicator"``, ``"peer"``, ``"choices"``, ``"constants"``.
        """
        return frozenset(self._instance.extensions)

    @property
    def kernels(self) -> Kernels:
        """Compiling and launching kernels.

        :raises NotSupportedError: the vendor does not offer it.
        """
        return Kernels(self._instance)

    @property
    def graphs(self) -> Graphs:
        """Capturing streams and replaying what was captured.

        :raises NotSupportedError: the vendor does not offer it.
        """
        return Graphs(self._instance)

    @property
    def profiler(self) -> Profiler:
        """What ran on a device, and when.

        :raises NotSupportedError: the vendor does not offer it.
        """
        return Profiler(self._instance)

    @property
    def communicators(self) -> Communicators:
        """Collectives and messages between devices.

        :raises NotSupportedError: the vendor does not offer it.
        """
        return Communicators(self._instance)

    @property
    def peers(self) -> Peers:
        """Memory of other devices and processes.

        :raises NotSupportedError: the vendor does not offer it.
        """
        return Peers(self._instance)

    @property
    def choices(self) -> Choices:
        """Which of the vendor's implementations serves a call.

        :raises NotSupportedError: the vendor does not offer it.
        """
        return Choices(extension_of(self._instance, "choices").call)

    @property
    def constants(self) -> Constants:
        """Memory that stays what it is, of which the vendor may keep what it makes of it.

        :raises NotSupportedError: the vendor does not offer it.
        """
        return Constants(extension_of(self._instance, "constants").call)

    def guard_calls(self, *, salt: int = 0) -> None:
        """Check from now on what operators write; slow, for tests of vendors.

        Tensors that are made later get bands of memory around them. A call raises
        :class:`StrayWriteError` if the operator has changed anything but the elements of its
        outputs: a band, what lies between elements, an input; or anything at all before it
        returned an error. Memory that is shared with an array (``copy=False``) has no bands.

        :param salt: with another one, other noise is around and between the elements: results that
            change with it were read from there.
        """
        self._instance.guard = Guard(salt)

    def close(self) -> None:
        """Wait for what was enqueued and give the instance back. Twice does nothing.

        No operator can be called any more. Memory that arrays or tensors still view stays valid:
        the library's instance is destroyed with the last of them, or when the process ends.

        :raises VendorError: the work, or the wait for it, failed. The instance is closed all the
            same.
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
            f"[{slot}] legacy vendor {self.name} does not offer this: it works on host memory",
            code=constants.DL_NOT_SUPPORTED,
            operation=slot,
            vendor=self.name,
        )

"""The communicator extension: collectives and messages between devices, one rank each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import ArgumentError
from .cabi import constants, ffi
from .extensions import create_owned, extension_of
from .instance import Instance
from .streams import Stream
from .structs import CData
from .tensor import Tensor

_REDUCE: dict[str, int] = {
    name: getattr(constants, f"DL_REDUCE_{name.upper()}")
    for name in ("sum", "product", "minimum", "maximum", "average")
}
_ID = "dl_communicator_id_t"


class Communicators:
    """The communicator extension of one vendor; :attr:`diopi_proto.Vendor.communicators`."""

    def __init__(self, instance: Instance) -> None:
        self._instance, self._slots = instance, extension_of(instance, "communicator")

    def unique_id(self) -> bytes:
        """Return an identifier for a new communicator, which must be sent to all of its ranks."""
        if self._is_sized():
            sized = ffi.new("char[]", self._id_size())
            self._slots.call("sized_unique_id", sized, len(sized))
            return bytes(ffi.buffer(sized))
        found = ffi.new(f"{_ID}*")
        self._slots.call("unique_id", found)
        return bytes(ffi.buffer(found))

    def create(
        self, name: bytes, ranks: int, rank: int, *, device: int = 0, seconds: float = 0.0
    ) -> Communicator:
        """Join a communicator as one of its ranks; return when all ranks have joined.

        :param name: result of :meth:`unique_id` on one rank.
        :param seconds: timeout for the other ranks; 0: none.
        :raises UnavailableError: the other ranks did not join in time.
        :raises VendorError: the rank is taken, or the number of ranks differs.
        """
        expected = self._id_size()
        if len(name) != expected:
            raise ArgumentError(
                f"[communicator.create] name has {len(name)} bytes, expected {expected}",
                operator="communicator.create",
                parameter="name",
            )
        device = self._instance.check_device(device, "communicator.create")
        return Communicator(self, name, ranks, rank, device, seconds)

    def _is_sized(self) -> bool:
        """Return True if the vendor's identifiers may have any size."""
        return all(map(self._slots.has, ("id_size", "sized_unique_id", "sized_create")))

    def _id_size(self) -> int:
        if not self._is_sized():
            return int(ffi.sizeof(_ID))
        found = ffi.new("uint64_t*")
        self._slots.call("id_size", found)
        return int(found[0])

    def _join(
        self, name: bytes, ranks: int, rank: int, device: int, seconds: float, pointer: CData
    ) -> None:
        if self._is_sized():
            values = (ffi.from_buffer(name), len(name), ranks, rank, seconds, pointer)
            self._slots.call("sized_create", device, *values)
        else:
            raw = ffi.new(f"{_ID}*")
            ffi.buffer(raw)[:] = name
            self._slots.call("create", device, raw, ranks, rank, seconds, pointer)

    @contextmanager
    def group(self) -> Iterator[None]:
        """Context manager that enqueues this thread's calls together at its end."""
        self._slots.call("group_begin")
        try:
            yield
        finally:
            self._slots.call("group_end")


class Communicator:
    """One rank of a communicator; destroyed with its last reference.

    Tensors must be contiguous and on the communicator's device. Calls return once enqueued.

    :ivar device: device of this rank.
    :ivar rank: index of this rank, from 0 to ``ranks - 1``.
    """

    def __init__(
        self,
        communicators: Communicators,
        name: bytes,
        ranks: int,
        rank: int,
        device: int,
        seconds: float,
    ) -> None:
        instance, slots = communicators._instance, communicators._slots
        self._instance, self._slots = instance, slots
        self.device, self.ranks, self.rank = device, ranks, rank
        self._pointer = create_owned(
            self,
            instance,
            lambda pointer: communicators._join(name, ranks, rank, device, seconds, pointer),
            lambda communicator: slots.call("destroy", communicator),
            "communicator",
        )

    def abort(self) -> None:
        """Fail all enqueued work of the communicator, on this rank and on ranks that wait
        for it.
        """
        self._slots.call("abort", self._pointer)

    def check(self) -> None:
        """Raise the first error of the enqueued work. Does not wait.

        :raises VendorError: enqueued work has failed.
        """
        self._slots.call("check", self._pointer)

    @property
    def aborted(self) -> bool:
        """Return True if the communicator was aborted."""
        raw = ffi.new("dl_communicator_properties_t*")
        raw.struct_size = ffi.sizeof("dl_communicator_properties_t")
        self._slots.call("properties", self._pointer, raw)
        return bool(raw.aborted)

    def all_reduce(
        self, send: Tensor, receive: Tensor, reduce: str = "sum", *, stream: Stream | None = None
    ) -> None:
        """Reduce the tensors of all ranks elementwise.

        :param reduce: ``"sum"``, ``"product"``, ``"minimum"``, ``"maximum"`` or ``"average"``.
        """
        self._run("all_reduce", send, receive, send.size, (1, 1), stream, _reduce(reduce))

    def reduce(
        self,
        send: Tensor,
        receive: Tensor | None,
        root: int,
        reduce: str = "sum",
        *,
        stream: Stream | None = None,
    ) -> None:
        """Reduce as :meth:`all_reduce` does, with the result on ``root`` only; on other ranks
        ``receive`` may be None."""
        extra = (_reduce(reduce), self._peer("root", root))
        self._run("reduce", send, receive, send.size, (1, 1), stream, *extra)

    def broadcast(
        self, send: Tensor | None, receive: Tensor, root: int, *, stream: Stream | None = None
    ) -> None:
        """Copy ``send`` of ``root`` to ``receive`` of all ranks; ``send`` may be None elsewhere."""
        root = self._peer("root", root)
        self._run("broadcast", send, receive, receive.size, (1, 1), stream, root)

    def all_gather(self, send: Tensor, receive: Tensor, *, stream: Stream | None = None) -> None:
        """Concatenate the tensors of all ranks."""
        self._run("all_gather", send, receive, send.size, (1, self.ranks), stream)

    def reduce_scatter(
        self, send: Tensor, receive: Tensor, reduce: str = "sum", *, stream: Stream | None = None
    ) -> None:
        """Reduce the tensors of all ranks; rank r receives part r of the result."""
        shares = (self.ranks, 1)
        self._run("reduce_scatter", send, receive, receive.size, shares, stream, _reduce(reduce))

    def all_to_all(self, send: Tensor, receive: Tensor, *, stream: Stream | None = None) -> None:
        """Send part p of ``send`` to rank p, which receives it as part ``rank`` of ``receive``."""
        count = send.size // self.ranks
        self._run("all_to_all", send, receive, count, (self.ranks, self.ranks), stream)

    def gather(
        self, send: Tensor, receive: Tensor | None, root: int, *, stream: Stream | None = None
    ) -> None:
        """Concatenate the tensors of all ranks, with the result on ``root`` only; on other ranks
        ``receive`` may be None."""
        root = self._peer("root", root)
        self._run("gather", send, receive, send.size, (1, self.ranks), stream, root)

    def scatter(
        self, send: Tensor | None, receive: Tensor, root: int, *, stream: Stream | None = None
    ) -> None:
        """Send part r of ``send`` of ``root`` to rank r; ``send`` may be None elsewhere."""
        root = self._peer("root", root)
        self._run("scatter", send, receive, receive.size, (self.ranks, 1), stream, root)

    def send(self, tensor: Tensor, peer: int, *, stream: Stream | None = None) -> None:
        """Send a tensor to one rank, which must call :meth:`receive`."""
        self._message("send", tensor, peer, stream)

    def receive(self, tensor: Tensor, peer: int, *, stream: Stream | None = None) -> None:
        """Receive a tensor from one rank, which must call :meth:`send`."""
        self._message("receive", tensor, peer, stream)

    def _run(
        self,
        slot: str,
        send: Tensor | None,
        receive: Tensor | None,
        count: int,
        shares: tuple[int, int],
        stream: Stream | None,
        *extra: int,
    ) -> None:
        """Call a slot with two tensors whose sizes are the given multiples of ``count``."""
        tensors = [tensor for tensor in (send, receive) if tensor is not None]
        for tensor, share in ((send, shares[0]), (receive, shares[1])):
            if tensor is not None:
                self._check(slot, tensor, tensors[0], count * share)
        queue = self._queue(stream)
        addresses = [ffi.cast("void*", t.address if t is not None else 0) for t in (send, receive)]
        values = (count, tensors[0].dtype.number, *extra)
        self._slots.call(slot, self._pointer, *addresses, *values, queue)
        self._instance.enqueued(self.device, queue, [*tensors, self, stream])

    def _message(self, slot: str, tensor: Tensor, peer: int, stream: Stream | None) -> None:
        self._check(slot, tensor, tensor, tensor.size)
        peer, queue = self._peer("peer", peer), self._queue(stream)
        address = ffi.cast("void*", tensor.address)
        values = (tensor.size, tensor.dtype.number, peer)
        self._slots.call(slot, self._pointer, address, *values, queue)
        self._instance.enqueued(self.device, queue, [tensor, self, stream])

    def _queue(self, stream: Stream | None) -> CData:
        return ffi.NULL if stream is None else stream.pointer_for(self._instance, self.device)

    def _check(self, slot: str, tensor: Tensor, first: Tensor, size: int) -> None:
        wrong = ""
        if tensor.storage.instance is not self._instance or tensor.device != self.device:
            wrong = f"is not on device {self.device} of {self._instance.name}"
        elif not tensor.is_contiguous or tensor.is_sparse:
            wrong = "is not contiguous"
        elif tensor.dtype is not first.dtype:
            wrong = f"is not {first.dtype}"
        elif tensor.size != size:
            wrong = f"has {tensor.size} elements, expected {size}"
        if wrong:
            raise ArgumentError(
                f"[communicator.{slot}] {tensor!r} {wrong}", operator=f"communicator.{slot}"
            )

    def _peer(self, parameter: str, rank: int) -> int:
        if not isinstance(rank, int) or not 0 <= rank < self.ranks:
            raise ArgumentError(
                f"[communicator] {parameter}={rank!r} is not a rank from 0 to {self.ranks - 1}",
                operator="communicator",
                parameter=parameter,
            )
        return rank


def _reduce(name: str) -> int:
    number = _REDUCE.get(name)
    if number is None:
        raise ArgumentError(
            f"[communicator] reduce={name!r} is invalid, expected one of {', '.join(_REDUCE)}",
            operator="communicator",
            parameter="reduce",
        )
    return number

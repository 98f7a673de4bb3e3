"""The communicator extension: collectives and messages between devices, one rank each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import ArgumentError
from .cabi import constants, ffi
from .extensions import extension_of, made_for
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
        """A name for a new communicator, to be sent to all of its ranks."""
        found = ffi.new(f"{_ID}*")
        self._slots.call("unique_id", found)
        return bytes(ffi.buffer(found))

    def create(
        self, name: bytes, ranks: int, rank: int, *, device: int = 0, seconds: float = 0.0
    ) -> Communicator:
        """Join a communicator as one of its ranks; returns when all have come.

        :param name: what :meth:`unique_id` returned on one of them.
        :param seconds: how long to wait for the others; 0: for ever.
        :raises UnavailableError: they did not come in time.
        :raises VendorError: the rank is taken, or the numbers do not fit.
        """
        if len(name) != ffi.sizeof(_ID):
            raise ArgumentError(
                f"[communicator.create] a name has {ffi.sizeof(_ID)} bytes, this one {len(name)}",
                operator="communicator.create",
                parameter="name",
            )
        device = self._instance.check_device(device, "communicator.create")
        return Communicator(self, name, ranks, rank, device, seconds)

    @contextmanager
    def group(self) -> Iterator[None]:
        """Calls of this thread in the block are enqueued together at its end."""
        self._slots.call("group_begin")
        try:
            yield
        finally:
            self._slots.call("group_end")


class Communicator:
    """One rank of a communicator. Destroyed with its last reference.

    Tensors are contiguous and on its device. All calls return once they are enqueued.

    :ivar device: its device.
    :ivar rank: its number among :attr:`ranks`.
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
        raw = ffi.new(f"{_ID}*")
        ffi.buffer(raw)[:] = name
        self._pointer = made_for(
            self,
            instance,
            lambda pointer: slots.call("create", device, raw, ranks, rank, seconds, pointer),
            lambda communicator: slots.call("destroy", communicator),
            "communicator",
        )

    def abort(self) -> None:
        """Make all that waits on it, here and at other ranks, end with an error."""
        self._slots.call("abort", self._pointer)

    def check(self) -> None:
        """Raise the first error of what was enqueued on it. Does not wait.

        :raises VendorError: there was one.
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
        """Combine the tensors of all ranks, element by element.

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
        """As :meth:`all_reduce`, on ``root`` alone; ``receive`` may be None elsewhere."""
        extra = (_reduce(reduce), self._peer("root", root))
        self._run("reduce", send, receive, send.size, (1, 1), stream, *extra)

    def broadcast(
        self, send: Tensor | None, receive: Tensor, root: int, *, stream: Stream | None = None
    ) -> None:
        """``send`` of ``root`` to ``receive`` of all; ``send`` may be None elsewhere."""
        root = self._peer("root", root)
        self._run("broadcast", send, receive, receive.size, (1, 1), stream, root)

    def all_gather(self, send: Tensor, receive: Tensor, *, stream: Stream | None = None) -> None:
        """The tensors of all ranks one after the other."""
        self._run("all_gather", send, receive, send.size, (1, self.ranks), stream)

    def reduce_scatter(
        self, send: Tensor, receive: Tensor, reduce: str = "sum", *, stream: Stream | None = None
    ) -> None:
        """Rank r receives part r of the combination of all tensors."""
        shares = (self.ranks, 1)
        self._run("reduce_scatter", send, receive, receive.size, shares, stream, _reduce(reduce))

    def all_to_all(self, send: Tensor, receive: Tensor, *, stream: Stream | None = None) -> None:
        """Part p of ``send`` goes to rank p, which has it as part ``rank`` of ``receive``."""
        count = send.size // self.ranks
        self._run("all_to_all", send, receive, count, (self.ranks, self.ranks), stream)

    def gather(
        self, send: Tensor, receive: Tensor | None, root: int, *, stream: Stream | None = None
    ) -> None:
        """As :meth:`all_gather`, on ``root`` alone; ``receive`` may be None elsewhere."""
        root = self._peer("root", root)
        self._run("gather", send, receive, send.size, (1, self.ranks), stream, root)

    def scatter(
        self, send: Tensor | None, receive: Tensor, root: int, *, stream: Stream | None = None
    ) -> None:
        """Part r of ``send`` of ``root`` to rank r; ``send`` may be None elsewhere."""
        root = self._peer("root", root)
        self._run("scatter", send, receive, receive.size, (self.ranks, 1), stream, root)

    def send(self, tensor: Tensor, peer: int, *, stream: Stream | None = None) -> None:
        """A message to one rank, which receives it."""
        self._message("send", tensor, peer, stream)

    def receive(self, tensor: Tensor, peer: int, *, stream: Stream | None = None) -> None:
        """A message of one rank, which sends it."""
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
        """Call a slot with two tensors of so many times ``count`` elements each."""
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
            wrong = f"is not of {first.dtype}"
        elif tensor.size != size:
            wrong = f"has {tensor.size} elements, {size} are needed"
        if wrong:
            raise ArgumentError(
                f"[communicator.{slot}] {tensor!r} {wrong}", operator=f"communicator.{slot}"
            )

    def _peer(self, parameter: str, rank: int) -> int:
        if not isinstance(rank, int) or not 0 <= rank < self.ranks:
            raise ArgumentError(
                f"[communicator] {parameter}={rank!r} is none of {self.ranks} ranks",
                operator="communicator",
                parameter=parameter,
            )
        return rank


def _reduce(name: str) -> int:
    number = _REDUCE.get(name)
    if number is None:
        raise ArgumentError(
            f"[communicator] reduce={name!r} is none of {', '.join(_REDUCE)}",
            operator="communicator",
            parameter="reduce",
        )
    return number

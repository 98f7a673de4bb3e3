"""Calls whose tensors share memory, and their outcomes.

Each way of sharing starts from a call with separate tensors, and moves one written tensor into the
memory of another, or makes it overlap itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from opinfo.derived_calls import HOST_ARGUMENTS, calls_of, operator
from opinfo.recording import Bound
from torch.utils._pytree import tree_map

from dl_torch_tests.opinfo.relocate import Relocation
from dl_torch_tests.opinfo.sweep import tensors_of

SEED = 3
CALLS = 2
"""Maximum number of recorded calls of each overload."""


@dataclass(frozen=True)
class Slot:
    """One tensor among the arguments: an argument, or the element of a list."""

    argument: str
    item: int | None
    tensor: torch.Tensor

    def replace_in(self, bound: Bound, tensor: torch.Tensor) -> Bound:
        changed = dict(bound)
        if self.item is None:
            changed[self.argument] = tensor
        else:
            changed[self.argument] = [*bound[self.argument]]
            changed[self.argument][self.item] = tensor
        return changed

    def get(self, bound: Bound) -> torch.Tensor:
        value = bound[self.argument]
        found: torch.Tensor = value if self.item is None else value[self.item]
        return found

    def __str__(self) -> str:
        return self.argument if self.item is None else f"{self.argument}[{self.item}]"


@dataclass(frozen=True)
class Shared:
    """A call with shared memory.

    :ivar read: None if the written tensor overlaps itself.
    """

    way: str
    written: Slot
    read: Slot | None
    bound: Bound
    both_written: bool

    @property
    def has_right_result(self) -> bool:
        """Return True unless two results share memory."""
        if self.read is None:
            return False
        if not self.both_written:
            return True
        return not _elements(self.written.get(self.bound)) & _elements(self.read.get(self.bound))

    @property
    def between_items(self) -> bool:
        """Return True if different positions of two lists share memory."""
        return self.among_lists and self.read is not None and self.written.item != self.read.item

    @property
    def among_lists(self) -> bool:
        return self.read is not None and None not in (self.written.item, self.read.item)

    def __str__(self) -> str:
        return f"{self.way}: {self.written}" + (f" and {self.read}" if self.read else "")


def find_written_arguments(overload: str) -> set[str]:
    return {
        argument.name
        for argument in operator(overload)._schema.arguments
        if argument.alias_info is not None and argument.alias_info.is_write
    }


def apart(bound: Bound) -> Bound:
    """Return the same call with a storage of its own for every tensor, and the same strides."""

    def copied(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if leaf.layout is not torch.strided or torch._debug_has_internal_overlap(leaf) == 1:
            return leaf.clone()
        return torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype).copy_(leaf)

    return {name: tree_map(copied, value) for name, value in bound.items()}


def _slots(bound: Bound) -> list[Slot]:
    """Return the tensors, but only the first two of a list: the others behave alike."""
    found = []
    for name, value in bound.items():
        if isinstance(value, torch.Tensor):
            found.append(Slot(name, None, value))
        elif isinstance(value, (list, tuple)):
            items = [each for each in enumerate(value) if isinstance(each[1], torch.Tensor)]
            found += [Slot(name, at, tensor) for at, tensor in items[:2]]
    return [slot for slot in found if slot.tensor.layout == torch.strided]


def _elements(tensor: torch.Tensor) -> set[int]:
    """Return the addresses of the tensor's bytes."""
    places = torch.tensor(tensor.storage_offset())
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        places = places.unsqueeze(-1) + torch.arange(size) * stride
    return set((tensor.untyped_storage().data_ptr() + places * tensor.itemsize).flatten().tolist())


def expanded(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor of the same shape whose elements all share one address."""
    single = torch.zeros([1] * tensor.dim(), dtype=tensor.dtype)
    return single.copy_(tensor.flatten()[:1].view(single.shape)).expand(tensor.shape)


def _in_one_buffer(
    first: torch.Tensor, at: int, second: torch.Tensor, second_at: int, step: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return copies of both, in every ``step``-th element of one buffer from these offsets on."""
    ends = [at + step * first.numel(), second_at + step * second.numel()]
    buffer = torch.zeros(max(ends), dtype=first.dtype)
    laid = tuple(
        buffer[start : start + step * tensor.numel() : step].view(tensor.shape)
        for tensor, start in ((first, at), (second, second_at))
    )
    # The tensor that is read keeps its values where both overlap.
    for tensor, source in zip(laid, (first, second), strict=True):
        tensor.copy_(source)
    return laid[0], laid[1]


def _with_both(
    bound: Bound, written: Slot, read: Slot, tensors: tuple[torch.Tensor, torch.Tensor]
) -> Bound:
    return read.replace_in(written.replace_in(bound, tensors[0]), tensors[1])


Way = Callable[[Bound, Slot, Slot], Bound | None]


def _same(bound: Bound, written: Slot, read: Slot) -> Bound | None:
    if written.tensor.shape != read.tensor.shape:
        return None
    return written.replace_in(bound, read.tensor)


def _view(bound: Bound, written: Slot, read: Slot) -> Bound | None:
    if written.tensor.shape != read.tensor.shape:
        return None
    return written.replace_in(bound, read.tensor.view_as(read.tensor))


def _transposed(bound: Bound, written: Slot, read: Slot) -> Bound | None:
    shape = written.tensor.shape
    if shape != read.tensor.shape or len(shape) != 2 or len(set(shape)) != 1 or shape[0] == 1:
        return None
    return written.replace_in(bound, read.tensor.t())


def _ahead(bound: Bound, written: Slot, read: Slot) -> Bound | None:
    return _with_both(bound, written, read, _in_one_buffer(written.tensor, 1, read.tensor, 0))


def _behind(bound: Bound, written: Slot, read: Slot) -> Bound | None:
    return _with_both(bound, written, read, _in_one_buffer(written.tensor, 0, read.tensor, 1))


def _interleaved(bound: Bound, written: Slot, read: Slot) -> Bound | None:
    return _with_both(bound, written, read, _in_one_buffer(written.tensor, 0, read.tensor, 1, 2))


WAYS: dict[str, Way] = {
    "same": _same,
    "view": _view,
    "transposed": _transposed,
    "ahead": _ahead,
    "behind": _behind,
    "interleaved": _interleaved,
}


def ways_of_sharing(overload: str, bound: Bound) -> Iterator[Shared]:
    """Yield every way in which one written tensor can share memory."""
    names = find_written_arguments(overload)
    slots = _slots(bound)
    for written in slots:
        if written.argument not in names or written.item not in (None, 0):
            continue
        if written.tensor.numel() > 1:
            yield Shared(
                "expanded",
                written,
                None,
                written.replace_in(bound, expanded(written.tensor)),
                False,
            )
        for read in slots:
            alike = read.tensor.dtype == written.tensor.dtype
            one_list = read.argument == written.argument
            if one_list or not alike or not read.tensor.numel():
                continue
            # Tensors with one element, or none, cannot overlap partially.
            if written.tensor.numel() + read.tensor.numel() <= 2 or not written.tensor.numel():
                continue
            for way, lay in WAYS.items():
                shared = lay(bound, written, read)
                if shared is not None:
                    yield Shared(way, written, read, shared, read.argument in names)


def calls(overload: str) -> Iterator[Bound]:
    for call in calls_of(overload)[:CALLS]:
        yield apart(call.bound)


class SameObjects(Relocation):
    """Copier that returns the same object for the same original."""

    def __init__(self, device: str) -> None:
        super().__init__(device)
        self._moved: dict[int, torch.Tensor] = {}

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in self._moved:
            self._moved[id(tensor)] = super()._tensor(tensor)
        return self._moved[id(tensor)]


@dataclass
class Outcome:
    """The tensors that a call writes to, or the error that it raised."""

    written: list[torch.Tensor]
    error: Exception | None = None


def outcome(overload: str, bound: Bound, device: str) -> Outcome:
    """Call the overload with copies on ``device``, which share memory as the originals do."""
    copies = SameObjects(device)
    given = {
        name: Relocation()(value) if name in HOST_ARGUMENTS else copies(value)
        for name, value in bound.items()
    }
    torch.manual_seed(SEED)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            operator(overload)(**given)
        except Exception as error:  # noqa: BLE001 - whatever an operator raises is its outcome
            return Outcome([], error)
    names = [argument.name for argument in operator(overload)._schema.arguments]
    targets = [given.get(name) for name in names if name in find_written_arguments(overload)]
    return Outcome([tensor.cpu().clone() for tensor in tensors_of(targets)])


def equal(have: Outcome, want: Outcome) -> bool:
    """Return True if the written values are equal up to rounding."""
    pairs = list(zip(have.written, want.written, strict=True))
    return all(a.shape == b.shape and a.dtype == b.dtype for a, b in pairs) and all(
        torch.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True)
        if a.is_floating_point() or a.is_complex()
        else torch.equal(a, b)
        for a, b in pairs
    )

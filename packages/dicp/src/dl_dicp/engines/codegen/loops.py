"""Passes over a row: the values that one loop computes, and the reductions that must precede it.

A sum along a row is available when the loop that computes it has ended, so it is used in a later
loop. An element that a later loop needs is read from memory again if it was read from memory that
the kernel does not write; otherwise it is stored in a buffer of the row.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dl_dicp.engines.codegen.views import Access


class UnsuitedError(Exception):
    """A group cannot become a kernel, or a kernel would not pay off."""


@dataclass(frozen=True)
class Symbol:
    """Value of a row.

    :ivar kind: C++ type.
    :ivar length: number of elements; 0 for a per-row value.
    :ivar made: index of the pass that computes it. Elements are available from this pass on, a
        per-row value from the next pass on; -1 if it is available before all passes.
    :ivar source: the memory from which it is read; None if it is computed.
    :ivar buffered: whether it is only in a buffer, from the pass after ``made`` on.
    """

    name: str
    kind: str
    length: int
    made: int
    source: Access | None = None
    buffered: bool = False


@dataclass
class Pass:
    """Loop over a row.

    :ivar lines: lines of its body.
    :ivar sums: names of the sums that it computes.
    :ivar maxima: names of the maxima that it computes.
    :ivar after: lines that follow the loop.
    :ivar stores: lines after ``after``, which write per-row values to memory.
    :ivar names: local variables of its body, by symbol.
    :ivar kept: symbols that it writes to their buffers.
    """

    length: int
    lines: list[str] = field(default_factory=list)
    sums: list[str] = field(default_factory=list)
    maxima: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)
    names: dict[Symbol, str] = field(default_factory=dict)
    kept: set[Symbol] = field(default_factory=set)


class Loops:
    """Builder of a kernel's passes, value by value.

    :param written: storages that the kernel writes, from which values are read only once.
    :ivar before: lines before all passes.
    :ivar stores: lines after ``before``, which write per-row values to memory.
    :ivar buffers: types and lengths of the buffers of a row, by name.
    :ivar accesses: all accesses to memory, with the names of their pointers.
    """

    def __init__(self, written: set[int]) -> None:
        self.passes: list[Pass] = []
        self.before: list[str] = []
        self.stores: list[str] = []
        self.buffers: dict[str, tuple[str, int]] = {}
        self.accesses: dict[Access, str] = {}
        self._written = written
        self._first_read: dict[Access, int] = {}
        self._count = 0

    @property
    def are_of_elements(self) -> bool:
        """Return True if there is only one pass, whose elements are independent."""
        alone = len(self.passes) == 1 and not self.buffers
        return alone and not (self.passes[0].sums or self.passes[0].maxima)

    def read(self, access: Access, length: int) -> Symbol:
        """Return a value that is read from memory."""
        kind = "bool" if access.dtype == "bool" else "float"
        if not access.is_scalar:
            return Symbol(f"m{self._pointer(access)}", kind, length, 0, access)
        made = Symbol(self._name("s"), kind, 0, -1, access)
        self.before.append(
            f"const {kind} {made.name} = static_cast<{kind}>({self._pointer(access)}[0]);"
        )
        return made

    def element(self, text: str, *given: Symbol, kind: str = "float") -> Symbol:
        """Return an elementwise value, or a per-row value if all of its operands are per-row
        values.

        :param text: C++ expression with ``{0}``, ``{1}``, … for the values of ``given``.
        """
        length = max((each.length for each in given), default=0)
        if length == 0:
            return self.row(text, *given, kind=kind)
        return self.element_of(length, text, *given, kind=kind)

    def element_of(self, length: int, text: str, *given: Symbol, kind: str = "float") -> Symbol:
        """Return an elementwise value of a row with this length."""
        if any(each.length not in (0, length) for each in given):
            raise UnsuitedError("an operator has rows of different lengths")
        place = self._place(length, given)
        made = Symbol(self._name("v"), kind, length, place)
        names = [self._use(each, place) for each in given]
        target = self.passes[place]
        target.lines.append(f"const {kind} {made.name} = {text.format(*names)};")
        target.names[made] = made.name
        return made

    def row(self, text: str, *given: Symbol, kind: str = "float") -> Symbol:
        """Return a per-row value."""
        made = Symbol(self._name("r"), kind, 0, max((each.made for each in given), default=-1))
        line = f"const {kind} {made.name} = {text.format(*(each.name for each in given))};"
        self._after(made.made).append(line)
        return made

    def total(self, given: Symbol, *, squared: bool = False) -> Symbol:
        """Return the sum, or the sum of squares, along the row as a double: a float could
        overflow.
        """
        made, target, name = self._along(given, "double")
        times = f" * {name}" if squared else ""
        target.sums.append(made.name)
        target.lines.append(f"{made.name} += static_cast<double>({name}){times};")
        return made

    def largest(self, given: Symbol) -> Symbol:
        """Return the maximum along the row, ignoring NaN."""
        made, target, name = self._along(given, "float")
        target.maxima.append(made.name)
        target.lines.append(f"{made.name} = {name} > {made.name} ? {name} : {made.name};")
        return made

    def _along(self, given: Symbol, kind: str) -> tuple[Symbol, Pass, str]:
        """Return a new per-row reduction, the pass that computes it, and the name of its
        operand."""
        if given.length == 0:
            raise UnsuitedError("the operand of a reduction is a per-row value")
        place = self._place(given.length, (given,))
        made = Symbol(self._name("t"), kind, 0, place)
        return made, self.passes[place], self._use(given, place)

    def joined(self, parts: list[Symbol]) -> Symbol:
        """Return the concatenation of rows."""
        name, kind = self._name("b"), parts[0].kind
        start = last = 0
        for part in parts:
            if part.length == 0:
                raise UnsuitedError("a part of a concatenation is a per-row value")
            place = self._place(part.length, (part,))
            value = self._use(part, place)
            self.passes[place].lines.append(f"{name}[{start} + j] = {value};")
            start, last = start + part.length, max(last, place)
        self.buffers[name] = (kind, start)
        return Symbol(name, kind, start, last, buffered=True)

    def write(self, value: Symbol, access: Access, length: int) -> None:
        """Write a value to memory, after all reads of the old contents."""
        pointer = self._pointer(access)
        if access.is_scalar:
            if value.length:
                raise UnsuitedError("a row is written to a tensor with one value per row")
            stores = self.stores if value.made < 0 else self.passes[value.made].stores
            stores.append(f"put({pointer}, {value.name});")
            return
        least = max((i for i, each in enumerate(self.passes) if _reads(each, access)), default=0)
        place = self._place(length, (value,), least)
        name = self._use(value, place)
        self.passes[place].lines.append(f"put({pointer} + j, {name});")

    def _place(self, length: int, given: tuple[Symbol, ...], least: int = 0) -> int:
        """Return the first pass over rows of this length in which these values are available."""
        for each in given:
            late = each.length == 0 or each.buffered
            least = max(least, each.made + 1 if late else each.made)
        for place in range(least, len(self.passes)):
            if self.passes[place].length == length:
                return place
        self.passes.append(Pass(length))
        return len(self.passes) - 1

    def _use(self, value: Symbol, place: int) -> str:
        """Return the variable name of a value in a pass."""
        target = self.passes[place]
        if value.length == 0:
            return value.name
        if value in target.names:
            return target.names[value]
        if value.source is None:
            return self._from_buffer(value, place)
        first = self._first_read.setdefault(value.source, place)
        if value.source.storage in self._written and first != place:
            if first > place:
                raise UnsuitedError("memory is read in a later pass than it is written")
            return self._from_buffer(value, place, first)
        name = f"{value.name}_{place}"
        pointer = self._pointer(value.source)
        target.lines.append(f"const {value.kind} {name} = static_cast<{value.kind}>({pointer}[j]);")
        target.names[value] = name
        return name

    def _from_buffer(self, value: Symbol, place: int, made: int | None = None) -> str:
        target = self.passes[place]
        made = value.made if made is None else made
        buffer = value.name if value.buffered else f"b_{value.name}"
        if not value.buffered and value not in self.passes[made].kept:
            self.passes[made].kept.add(value)
            self.passes[made].lines.append(f"{buffer}[j] = {self.passes[made].names[value]};")
            self.buffers[buffer] = (value.kind, value.length)
        name = f"{value.name}_{place}"
        target.lines.append(f"const {value.kind} {name} = {buffer}[j];")
        target.names[value] = name
        return name

    def _after(self, place: int) -> list[str]:
        return self.before if place < 0 else self.passes[place].after

    def _pointer(self, access: Access) -> str:
        return self.accesses.setdefault(access, f"p{len(self.accesses)}")

    def _name(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"


def _reads(each: Pass, access: Access) -> bool:
    return any(value.source == access for value in each.names)

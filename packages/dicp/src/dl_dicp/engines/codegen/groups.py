"""Grouping of calls into kernels: consecutive calls that loop over the same rows.

The order in which a kernel processes rows is undefined. So a group may read and write the same
memory only at the same element of the same row; any other access begins a new group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dl_dicp.engines.codegen import expressions, rows
from dl_dicp.engines.codegen.views import (
    HALVES,
    TYPES,
    Access,
    Space,
    access_of,
    retyped,
    space_of,
    with_row_values,
)

Value = Mapping[str, Any]
MOST_CALLS = 64
"""Maximum calls of a group, which bounds the compile time."""
MOST_VALUES = 1 << 17
"""Maximum number of values of a row, summed over all calls: they share the cache."""


@dataclass(frozen=True)
class Planned:
    """Call as part of a loop over rows.

    :ivar number: index of the call.
    :ivar rule: rule that translates the call; None for a concatenation of rows.
    :ivar reads: inputs by parameter; the parts of a concatenation by index.
    :ivar writes: results by parameter.
    :ivar lengths: row lengths of the parts of a concatenation, or the row length of the call.
    """

    number: int
    rule: expressions.Elementwise | rows.Along | None
    arguments: expressions.Arguments
    reads: Mapping[str, Access]
    writes: Mapping[str, Access]
    rows: tuple[int, ...]
    order: tuple[int, ...]
    lengths: tuple[int, ...]

    @property
    def length(self) -> int:
        """Return the number of elements in a row of the result."""
        return sum(self.lengths)


@dataclass
class Group:
    """Group of calls that become one kernel."""

    rows: tuple[int, ...]
    order: tuple[int, ...]
    calls: list[Planned] = field(default_factory=list)

    def admits(self, call: Planned) -> bool:
        """Return True if a call loops over the same rows and the order of rows cannot matter."""
        turned = self.order != call.order and self.longest > 1 and call.length > 1
        if call.rows != self.rows or turned:
            return False
        members = [*self.calls, call]
        elementwise = self.is_elementwise and isinstance(call.rule, expressions.Elementwise)
        if len(members) > MOST_CALLS:
            return False
        if not elementwise and len(members) * max(self.longest, call.length) > MOST_VALUES:
            return False
        written = {x.storage: x for each in members for x in each.writes.values()}
        return all(
            x.storage not in written or written[x.storage] == x
            for each in members
            for x in (*each.reads.values(), *each.writes.values())
        )

    def touches(self, call: Planned) -> bool:
        """Return True if a call must not be reordered across the group."""
        writes = {x.storage for each in self.calls for x in each.writes.values()}
        reads = {x.storage for each in self.calls for x in each.reads.values()}
        made = {x.storage for x in call.writes.values()}
        return bool(made & (reads | writes)) or any(
            x.storage in writes for x in call.reads.values()
        )

    def add(self, call: Planned) -> None:
        """Add a call that the group admits."""
        if self.longest <= 1:
            self.order = call.order
        self.calls.append(call)

    @property
    def longest(self) -> int:
        """Return the number of elements of a row."""
        return max((call.length for call in self.calls), default=1)

    @property
    def is_elementwise(self) -> bool:
        """Return True if no element depends on another element of its row."""
        return all(isinstance(call.rule, expressions.Elementwise) for call in self.calls)


def groups_of(entry: Mapping[str, Any]) -> Iterator[Group]:
    """Yield the groups of an entry in an order in which they can run. A call without a rule is not
    in any group, and separates the groups before and after it."""
    near: list[Group] = []
    for number in range(len(entry["calls"])):
        if not _joins(entry, number, near):
            yield from near
            near = []
    yield from near


def _joins(entry: Mapping[str, Any], number: int, near: list[Group]) -> bool:
    """Add a call to the last group that admits it, or to a new group; return False if the call
    cannot be in a kernel."""
    alone = _planned(entry, number, None)
    if alone is None or not Group(alone.rows, alone.order).admits(alone):
        return False
    for group in reversed(near):
        planned = _planned(entry, number, group)
        if planned is not None and group.admits(planned):
            group.add(planned)
            return True
        if group.touches(alone):
            break
    made = Group(alone.rows, alone.order)
    made.add(alone)
    # Insert it before an independent last group, which later calls that need both can join.
    near.insert(len(near) - 1 if near and not near[-1].touches(alone) else len(near), made)
    return True


def _planned(entry: Mapping[str, Any], number: int, group: Group | None) -> Planned | None:
    operator, arguments = entry["calls"][number]
    values = entry["values"]
    if operator == "diopiCat":
        return _joining(number, arguments, values)
    along = rows.RULES.get(operator)
    if along is not None:
        return _along(number, along, arguments, values) if along.serves(arguments, values) else None
    rule = expressions.rule_of(operator, arguments)
    if rule is None:
        return None
    whole = values[arguments[rule.out]]
    tensors = {name: values[arguments[name]] for name in rule.tensors}
    if operator == "diopiCopyInp":
        whole, tensors["src"] = retyped(whole, tensors["src"], values)
        if whole["dtype"] in HALVES and whole["dtype"] == tensors["src"]["dtype"]:
            return None  # a copy preserves the bits of NaN; a conversion may change them
    if rule.is_boolean and rule.numbers and tensors["input"]["dtype"] in HALVES:
        return None  # vendors compare with the scalar rounded to half precision
    out, given = whole, tensors
    if group is not None:
        of_rows = with_row_values(out, group.rows)
        if of_rows is not None and out["shape"] == list(group.rows):
            given = {name: _with_one_more(value) for name, value in given.items()}
            out = of_rows
        planned = _elementwise(number, rule, arguments, given, out, space_of(out, ordered=True))
        if planned is not None and planned.rows == group.rows:
            return planned
    return _elementwise(number, rule, arguments, tensors, whole, space_of(whole, ordered=False))


def _with_one_more(value: Value) -> Value:
    return {**value, "shape": [*value["shape"], 1], "strides": [*value["strides"], 1]}


def _elementwise(
    number: int,
    rule: expressions.Elementwise,
    arguments: expressions.Arguments,
    given: Mapping[str, Value],
    out: Value,
    space: Space,
) -> Planned | None:
    reads = {name: access_of(value, space) for name, value in given.items()}
    return _checked(number, rule, arguments, reads, {rule.out: access_of(out, space)}, space)


def _along(
    number: int, rule: rows.Along, arguments: expressions.Arguments, values: Sequence[Value]
) -> Planned | None:
    whole = values[arguments[rule.tensors[0]]]
    space = space_of(whole, ordered=True)
    if space.length == 1:
        return None
    weights = [name for name in rule.weights if arguments[name] is not None]
    reads = {name: access_of(values[arguments[name]], space) for name in (*rule.tensors, *weights)}
    if any(values[arguments[name]]["shape"] != whole["shape"] for name in rule.tensors):
        return None
    made = {name: access_of(values[arguments[name]], space) for name in rule.makes}
    for name in rule.row_makes:
        of_rows = with_row_values(values[arguments[name]], space.rows)
        made[name] = None if of_rows is None else access_of(of_rows, space)
    return _checked(number, rule, arguments, reads, made, space)


def _joining(
    number: int, arguments: expressions.Arguments, values: Sequence[Value]
) -> Planned | None:
    out, parts = values[arguments["out"]], [values[each] for each in arguments["tensors"]]
    dims = len(out["shape"])
    if dims == 0 or arguments["dim"] % dims != dims - 1 or any(0 in x["shape"] for x in parts):
        return None
    space = space_of(out, ordered=True)
    spaces = [space_of(part, ordered=True) for part in parts]
    if any(each.rows != space.rows for each in spaces):
        return None
    reads = {
        str(place): access_of(part, each)
        for place, (part, each) in enumerate(zip(parts, spaces, strict=True))
    }
    planned = _checked(number, None, arguments, reads, {"out": access_of(out, space)}, space)
    lengths = tuple(each.length for each in spaces)
    if planned is None or 1 in lengths or len({x.dtype for x in planned.reads.values()}) > 1:
        return None
    return Planned(**{**planned.__dict__, "lengths": lengths})


def _checked(
    number: int,
    rule: expressions.Elementwise | rows.Along | None,
    arguments: expressions.Arguments,
    reads: Mapping[str, Access | None],
    writes: Mapping[str, Access | None],
    space: Space,
) -> Planned | None:
    """Return the planned call; None if a tensor has no rows, or an element is written twice."""
    known = {name: x for name, x in reads.items() if x is not None}
    made = {name: x for name, x in writes.items() if x is not None}
    if len(known) < len(reads) or len(made) < len(writes) or space.elements == 0:
        return None
    if any(x.dtype not in TYPES for x in (*known.values(), *made.values())):
        return None
    apart = all(
        all(step != 0 for step, size in zip(x.outer, space.rows, strict=True) if size > 1)
        for x in made.values()
    )
    of_rows = rule.row_makes if isinstance(rule, rows.Along) else ()
    whole = all(x.inner == 1 or space.length == 1 or name in of_rows for name, x in made.items())
    if not (apart and whole):
        return None
    return Planned(number, rule, arguments, known, made, space.rows, space.order, (space.length,))

"""Kernel of a group as passes over its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dl_dicp.engines.codegen import expressions, rows
from dl_dicp.engines.codegen.groups import Group, Planned
from dl_dicp.engines.codegen.loops import Loops, Symbol, UnsuitedError
from dl_dicp.engines.codegen.shaping import shape_of
from dl_dicp.engines.codegen.views import FLOATS, HALVES, Access


@dataclass
class Kernel:
    """Loops and buffers of a group's kernel.

    :ivar rows: sizes of the dimensions that it loops over.
    :ivar calls: indices of its calls in the entry.
    :ivar elements: maximum number of elements of a row.
    """

    rows: tuple[int, ...]
    loops: Loops
    calls: list[int]
    elements: int


def kernel_of(group: Group, stored: set[int], most_buffered: int) -> Kernel:
    """Build the kernel of a group.

    :param stored: storages whose contents are needed after the kernel.
    :param most_buffered: maximum size of a row's buffers in bytes.
    :raises UnsuitedError: the group cannot become a kernel.
    """
    shape = shape_of(group)
    written = {x.storage for call in group.calls for x in call.writes.values()}
    loops = Loops(written)
    values: dict[Access, Symbol] = {}
    lengths: dict[Access, int] = {}
    for call in group.calls:
        made = _write_results(call, shape.places, shape.stretched, loops, values)
        for name, symbol in made.items():
            if name in call.writes:
                access = shape.places[call.writes[name]]
                if access.dtype in HALVES and call.rule is not None:
                    # Every operator rounds its results, even if they are read only in the kernel.
                    rounded = f"rounded<{FLOATS[access.dtype]}>({{0}})"
                    symbol = loops.element(rounded, symbol)
                values[access] = symbol
                lengths[access] = call.length * shape.stretched
    for access, length in lengths.items():
        if access.storage in stored:
            loops.write(values[access], access, length)
    size = sum(4 * length for _, length in loops.buffers.values())
    if size > most_buffered:
        raise UnsuitedError(f"a row needs {size} bytes of buffers, more than {most_buffered}")
    longest = max((each.length for each in loops.passes), default=1)
    return Kernel(shape.rows, loops, [call.number for call in group.calls], longest)


def _write_results(
    call: Planned,
    places: Mapping[Access, Access],
    stretched: int,
    loops: Loops,
    values: Mapping[Access, Symbol],
) -> dict[str, Symbol]:
    """Return the results of a call by parameter."""
    length = call.length * stretched

    def operand(name: str, size: int) -> Symbol:
        access = places[call.reads[name]]
        known = values.get(access)
        return loops.read(access, size) if known is None else known

    if call.rule is None:
        parts = [operand(str(n), size) for n, size in enumerate(call.lengths)]
        return {"out": loops.joined(parts)}
    symbols = {name: operand(name, length) for name in call.reads}
    if isinstance(call.rule, rows.Along):
        return call.rule.write(loops, symbols, call.arguments, length)
    return {call.rule.out: _element(call, call.rule, length, loops, symbols)}


def _element(
    call: Planned,
    rule: expressions.Elementwise,
    length: int,
    loops: Loops,
    symbols: Mapping[str, Symbol],
) -> Symbol:
    named: dict[str, str] = {}
    for place, name in enumerate(rule.tensors):
        text = f"{{{place}}}"
        if name in rule.boolean_operands and symbols[name].kind != "bool":
            text = f"({text} != 0.0f)"
        named[name] = text
    for name in rule.numbers:
        named[name] = literal(expressions.number(call.arguments[name]))
    text = rule.text.format(**named)
    out = call.writes[rule.out]
    kind = "bool" if out.dtype == "bool" else "float"
    given = [symbols[name] for name in rule.tensors]
    if length > 1:
        return loops.element_of(length, text, *given, kind=kind)
    return loops.row(text, *given, kind=kind)


def literal(value: float) -> str:
    """Format a float as a C++ literal."""
    if value != value:
        return "kNaN"
    if value in (float("inf"), float("-inf")):
        return "kInfinity" if value > 0 else "(-kInfinity)"
    text = f"{value!r}f"
    return f"({text})" if value < 0 else text

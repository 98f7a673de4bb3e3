"""Unproven conditions on a program's sizes, which were observed only at the recorded sizes.

A number of a record became the expression that was right at both recordings. What the graph's
metadata say of the same tensor is right at all sizes; so is that numbers of one call which were the
same, the sizes of what it reads and writes, stay the same. Where algebra proves that, nothing is
left to do. Where it does not, the claim is looked at in each run, as a guard: a program is never
run at sizes at which an expression is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from dl_dicp.errors import FixedSizesError
from dl_dicp.program.document import elements
from dl_dicp.recording.calls import Call
from dl_dicp.recording.memory import Ref
from dl_dicp.recording.shapes import Shapes, Sizes, is_bounded, value_of
from dl_dicp.recording.trace import Lowered, Trace
from dl_dicp.sizes.proof import same
from dl_graph.expression import Expression, Json, Size, as_json


def claims_of(trace: Trace, shapes: Shapes, runs: Sequence[Sizes]) -> list[Json]:
    """Return the unproven equations of a unified record: ``["==", a, b]`` as in a file.

    :param runs: the sizes that were recorded. What did not hold there is no claim: the device may
        lay out a tensor otherwise than the metadata say.
    :raises FixedSizesError: a claim may divide by nothing, which no graph can hold.
    """
    known = {symbol.name: (symbol.least, symbol.most) for symbol in shapes.symbols}
    found: dict[tuple[Size, Size], Json] = {}
    for one, other in (*_of_nodes(trace, shapes), *_of_calls(trace)):
        if same(one, other) or any(value_of(one, x) != value_of(other, x) for x in runs):
            continue
        a, b = as_json(one), as_json(other)
        if not (is_bounded(a, known) and is_bounded(b, known)):
            raise FixedSizesError(f"a size may divide by nothing: {one!r} or {other!r}")
        found[one, other] = ["==", a, b]
    return list(found.values())


def _of_nodes(trace: Trace, shapes: Shapes) -> Iterator[tuple[Size, Size]]:
    """Yield pairs of the sizes in the metadata and those of the record."""
    for name, results in trace.nodes.items():
        for said, made in zip(shapes.nodes.get(name, ()), results, strict=False):
            if isinstance(made, Ref):
                numbers = (*made.shape, *made.strides, elements(made.offset, made.dtype))
            else:
                numbers = () if made is None else (made,)
            if len(numbers) == len(said):
                yield from zip(said, numbers, strict=True)


def _of_calls(trace: Trace) -> Iterator[tuple[Size, Size]]:
    """Yield pairs of numbers of a call with different expressions."""
    for step in trace.steps:
        for call in step.calls if isinstance(step, Lowered) else ():
            yield from combinations(_numbers(call), 2)


def _numbers(call: Call) -> list[Size]:
    sizes = dict.fromkeys(size for ref, _ in call.uses() for size in ref.shape)
    for given in call.arguments.values():
        each = given if isinstance(given, list) else [given]
        sizes |= dict.fromkeys(x for x in each if isinstance(x, Expression))
    varying = [size for size in sizes if isinstance(size, Expression)]
    return [*varying, *(size for size in sizes if not isinstance(size, Expression))]

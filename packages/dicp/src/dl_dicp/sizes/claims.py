"""Unproven conditions on a program's sizes, which were observed only at the recorded sizes.

Unification replaces a number with an expression that was right at both recorded sizes. It must
equal the graph's metadata of the same tensor, which are right at all sizes. Also, numbers of one
call that were equal, such as the sizes of inputs and outputs, must stay equal. Equations that
algebra cannot prove are claims. They are checked in each run, as guards: a program never runs at
sizes at which an expression is wrong.
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
    """Return the unproven equations of a unified record: ``["==", a, b]`` as in a graph file.

    :param runs: the recorded sizes. An equation that did not hold there is not a claim: the device
        may lay out a tensor differently from the metadata.
    :raises FixedSizesError: a claim may divide by zero, which a graph cannot check.
    """
    known = {symbol.name: (symbol.least, symbol.most) for symbol in shapes.symbols}
    found: dict[tuple[Size, Size], Json] = {}
    for one, other in (*_of_nodes(trace, shapes), *_of_calls(trace)):
        if same(one, other) or any(value_of(one, x) != value_of(other, x) for x in runs):
            continue
        a, b = as_json(one), as_json(other)
        if not (is_bounded(a, known) and is_bounded(b, known)):
            raise FixedSizesError(f"a size may divide by zero: {one!r} or {other!r}")
        found[one, other] = ["==", a, b]
    return list(found.values())


def _of_nodes(trace: Trace, shapes: Shapes) -> Iterator[tuple[Size, Size]]:
    """Yield pairs of a number in the metadata and the same number in the record."""
    for name, results in trace.nodes.items():
        for said, made in zip(shapes.nodes.get(name, ()), results, strict=False):
            if isinstance(made, Ref):
                numbers = (*made.shape, *made.strides, elements(made.offset, made.dtype))
            else:
                numbers = () if made is None else (made,)
            if len(numbers) == len(said):
                yield from zip(said, numbers, strict=True)


def _of_calls(trace: Trace) -> Iterator[tuple[Size, Size]]:
    """Yield pairs of different expressions among the numbers of each call."""
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

"""Synthetic second call of a graph at other sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import torch

from dl_dicp.errors import FixedSizesError
from dl_dicp.recording.memory import is_plain, span
from dl_dicp.recording.shapes import Shapes, Sizes, value_of
from dl_dicp.recording.symbols import Layout, Symbol
from dl_dicp.sizes.fit import AmbiguousError, Fit
from dl_graph.expression import Size

TRIES = 300
"""Maximum number of tuples of sizes that are tried."""

FARTHEST = 40
"""Another size is searched up to this much beyond twice a size, to bound the second call's cost."""


def other_sizes(shapes: Shapes, first: Sizes) -> tuple[dict[str, int], Fit]:
    """Return sizes at which all guards hold and all expressions can be distinguished.

    :raises FixedSizesError: no such sizes were found.
    """
    reason = "no other sizes were found that satisfy the guards of the graph"
    for sizes in islice(_tuples(shapes.symbols, first), TRIES):
        if not shapes.hold(sizes):
            continue
        try:
            return sizes, Fit(shapes, first, sizes)
        except AmbiguousError as error:
            reason = str(error)
    raise FixedSizesError(reason)


def _tuples(symbols: Sequence[Symbol], first: Sizes) -> Iterator[dict[str, int]]:
    options = [_options(symbol, first[symbol.name]) for symbol in symbols]
    if not all(options):
        return
    for number in range(TRIES):
        # A different step for each symbol, so that many combinations of sizes occur.
        yield {
            symbol.name: own[(number * (place + 1) + place) % len(own)]
            for place, (symbol, own) in enumerate(zip(symbols, options, strict=True))
        }


def _options(symbol: Symbol, first: int) -> list[int]:
    """Return primes above the first size, which are not products, then all other sizes near it."""
    above = range(max(symbol.least, first + 1), min(symbol.most, 2 * first + FARTHEST) + 1)
    below = range(symbol.least, min(first, symbol.most + 1))
    primes = [size for size in above if all(size % d for d in range(2, int(size**0.5) + 1))]
    return [*primes, *(size for size in above if size not in primes), *reversed(below)]


def arguments_at(
    shapes: Shapes,
    sizes: Sizes,
    arguments: Sequence[Any],
    device: torch.device,
    written: set[int],
) -> list[Any]:
    """Create arguments of these sizes with repeated elements of the originals, which are valid
    indices.

    :param written: indices of the arguments that the graph writes to, which are always copied.
    """
    return [
        _argument(layout, sizes, value, device, place in written)
        for place, (layout, value) in enumerate(zip(shapes.arguments, arguments, strict=True))
    ]


def _argument(
    layout: Layout | Size | None, sizes: Sizes, value: Any, device: torch.device, written: bool
) -> Any:
    if layout is None:
        return value
    if not isinstance(layout, Layout):
        return value_of(layout, sizes)
    if not is_plain(value, device):
        return value.clone() if written else value
    if not written and all(isinstance(x, int) for x in (*layout.sizes, *layout.strides)):
        return value
    shape = [value_of(size, sizes) for size in layout.sizes]
    strides = [value_of(size, sizes) for size in layout.strides]
    length = span(value.shape, value.stride())
    memory = value.as_strided((length,), (1,))
    wanted = span(shape, strides)
    if wanted > length > 0:
        memory = memory.repeat(-(-wanted // length))
    return memory[:wanted].clone().as_strided(shape, strides, 0)

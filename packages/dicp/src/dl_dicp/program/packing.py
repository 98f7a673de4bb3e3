"""Encoding of sizes for dl-core: integers, or expressions in postfix order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dl_graph.expression import Json, Size, evaluate

_SIGNS = ("", "", "+", "-", "*", "//", "%", "max", "min")
_FIRST_SIGN = 2
"""Operation of the first sign; 0 is a number and 1 a symbol."""


def packed(size: Size, names: Sequence[str]) -> Any:
    """Encode a size: an integer unchanged, an expression as pairs of operation and number.

    :param names: names of the symbols, in their order.
    """
    return size if isinstance(size, int) else packed_json(size.json, names)


def packed_json(json: Json, names: Sequence[str]) -> Any:
    """Encode a size that is given in the form of a graph file."""
    return json if isinstance(json, int) else list(_steps(json, names))


def unpacked(size: Any, sizes: Sequence[int]) -> int:
    """Return the value of an encoded size.

    :param sizes: the sizes of the symbols, in their order.
    """
    if isinstance(size, int):
        return size
    stack: list[int] = []
    for operation, number in zip(size[::2], size[1::2], strict=True):
        if operation < _FIRST_SIGN:
            stack.append(sizes[number] if operation else number)
            continue
        right, left = stack.pop(), stack.pop()
        stack.append(evaluate([_SIGNS[operation], left, right], {}))
    return stack.pop()


def _steps(json: Json, names: Sequence[str]) -> Iterator[int]:
    if isinstance(json, list):
        yield from _steps(json[1], names)
        yield from _steps(json[2], names)
        yield from (_SIGNS.index(json[0]), 0)
    elif isinstance(json, str):
        yield from (1, names.index(json))
    else:
        yield from (0, int(json))

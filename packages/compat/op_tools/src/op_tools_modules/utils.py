"""Utilities that scripts for ditorch import from its module of this name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def traverse_container(container: Any) -> Iterator[Any]:
    """Yield the values in nested dictionaries, lists, tuples and sets; of others, the value."""
    if isinstance(container, dict):
        container = container.values()
    elif not isinstance(container, (list, tuple, set, frozenset)):
        yield container
        return
    for each in container:
        yield from traverse_container(each)

"""The operators of a vendor, as a mapping and as attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..schema import load
from .call import BoundOperator
from .instance import Instance


class Operators(Mapping[str, bool]):
    """All operators of the contract, each bound to the vendor or unbound."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    def __getitem__(self, name: str) -> bool:
        if name not in load():
            raise KeyError(name)
        return self._instance.has(name)

    def __iter__(self) -> Iterator[str]:
        return iter(load())

    def __len__(self) -> int:
        return len(load())


class OperatorNamespace:
    """Operators as attributes: ``vendor.op.Add`` is ``diopiAdd``. Full names work too."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._bound: dict[str, BoundOperator] = {}

    def __getattr__(self, name: str) -> BoundOperator:
        if name.startswith("_"):
            raise AttributeError(name)
        full = name if name in load() else f"diopi{name}"
        if full not in load():
            raise AttributeError(f"the contract has no operator {name!r} and none named {full!r}")
        return self[full]

    def __getitem__(self, name: str) -> BoundOperator:
        bound = self._bound.get(name)
        if bound is None:
            bound = self._bound[name] = BoundOperator(self._instance, name)
        return bound

    def __dir__(self) -> list[str]:
        return [name.removeprefix("diopi") for name in load() if self._instance.has(name)]

"""Search space: parameters, constraints, and resources as features for strategies."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import SpaceError
from .constraint import Constraint, ConstraintLike
from .diagram import Diagram, Positions
from .features import FeatureTable, Resource
from .parameter import Config, Parameter, Value

_CHUNK = 4096


class SearchSpace:
    """The valid configurations of parameters. A *point* is a configuration's index, 0 to size - 1.

    >>> space = SearchSpace(
    ...     {"tile": [8, 16, 32], "lanes": [4, 8]},
    ...     constraints=["tile % lanes == 0", lambda tile, lanes: tile * lanes <= 128],
    ... )
    >>> space.size
    4
    >>> space.config(0)
    {'tile': 8, 'lanes': 4}

    :param parameters: each with its values, as a mapping or as :class:`Parameter` objects.
    :param constraints: functions whose parameters have names of parameters of the space, or Python
        expressions over such names; a single one need not be in a list.
    :param resources: models of what a configuration needs, such as bytes of shared memory, as
        functions of parameters; strategies learn from them.
    :raises SpaceError: an argument is invalid, or no configuration is valid.
    """

    def __init__(
        self,
        parameters: Mapping[str, Iterable[Value]] | Sequence[Parameter],
        constraints: Iterable[ConstraintLike] | ConstraintLike = (),
        resources: Mapping[str, Callable[..., float]] | None = None,
    ) -> None:
        self._declare(parameters, resources)
        if isinstance(constraints, (str, Constraint)) or callable(constraints):
            constraints = [constraints]
        if not isinstance(constraints, Iterable):
            raise SpaceError(f"[space] constraints is {constraints!r}: give a list of them")
        self.constraints = tuple(Constraint.of(each) for each in constraints)
        for each in self.constraints:
            self._demand_known(f"constraint {each.text}", each.names)
        self._diagram = Diagram(self.parameters, self.constraints)

    def _declare(
        self,
        parameters: Mapping[str, Iterable[Value]] | Sequence[Parameter],
        resources: Mapping[str, Callable[..., float]] | None,
    ) -> None:
        if isinstance(parameters, Mapping):
            parameters = [Parameter(name, values) for name, values in parameters.items()]
        if not isinstance(parameters, Iterable) or isinstance(parameters, (str, bytes)):
            raise SpaceError(f"[space] {parameters!r} is not a mapping of parameters to values")
        self.parameters = tuple(parameters)
        for each in self.parameters:
            if not isinstance(each, Parameter):
                raise SpaceError(
                    f"[space] {each!r} is not a Parameter: give Parameter(name, values)"
                )
        self.names = tuple(p.name for p in self.parameters)
        if not self.names:
            raise SpaceError("[space] there are no parameters")
        if len(set(self.names)) < len(self.names):
            raise SpaceError(f"[space] a parameter is declared twice: {', '.join(self.names)}")
        self._places = [{v: i for i, v in enumerate(p.values)} for p in self.parameters]
        self.resources = tuple(Resource.of(n, f) for n, f in (resources or {}).items())
        for resource in self.resources:
            self._demand_known(f"resource {resource.name}", resource.names)

    def _demand_known(self, what: str, names: Sequence[str]) -> None:
        for name in names:
            if name not in self.names:
                raise SpaceError(
                    f"[space] {what} names {name}, which is not a parameter; available:"
                    f" {', '.join(self.names)}"
                )

    @classmethod
    def of_configs(
        cls,
        configs: Sequence[Config],
        resources: Mapping[str, Callable[..., float]] | None = None,
    ) -> SearchSpace:
        """Create a space of exactly these configurations; values are in ascending order.

        :raises SpaceError: the list is empty, contains a configuration twice, or has configurations
            with different parameters.
        """
        if not configs:
            raise SpaceError("[space] there are no configurations")
        names = list(configs[0])
        for config in configs:
            if set(config) != set(names):
                raise SpaceError(
                    f"[space] configurations differ in their parameters: {names} and {list(config)}"
                )
        self = cls.__new__(cls)
        values = {name: _ascending(name, [config[name] for config in configs]) for name in names}
        self._declare(values, resources)
        self.constraints = ()
        self._diagram = Diagram.listing(self.parameters, self._rows(configs))
        if self.size < len(configs):
            raise SpaceError("[space] a configuration is listed twice")
        return self

    @property
    def size(self) -> int:
        """Number of valid configurations."""
        return self._diagram.size

    def positions(self, points: Sequence[int] | NDArray[np.int64]) -> Positions:
        """Return each parameter's value as an index into its values; shape (points, parameters)."""
        return self._diagram.decode(np.asarray(points, dtype=np.int64))

    def points(self, positions: Positions) -> NDArray[np.int64]:
        """Return the points of value positions; -1 for invalid ones."""
        return self._diagram.encode(np.asarray(positions, dtype=np.int32))

    def config(self, point: int) -> dict[str, Value]:
        """Return the configuration of a point.

        :raises SpaceError: there is no such point.
        """
        if not 0 <= point < self.size:
            raise SpaceError(f"[space] point {point} is not in 0 to {self.size - 1}")
        (row,) = self.positions([point])
        return {p.name: p.values[at] for p, at in zip(self.parameters, row, strict=True)}

    def configs(self) -> Iterator[dict[str, Value]]:
        """Yield all configurations in the order of their points."""
        for start in range(0, self.size, _CHUNK):
            for row in self.positions(np.arange(start, min(start + _CHUNK, self.size))):
                yield {p.name: p.values[at] for p, at in zip(self.parameters, row, strict=True)}

    def point(self, config: Config) -> int | None:
        """Return the point of a configuration, or None if it is not valid.

        :raises SpaceError: a parameter is missing or unknown.
        """
        if set(config) != set(self.names):
            missing = ", ".join(name for name in self.names if name not in config)
            surplus = ", ".join(repr(name) for name in config if name not in self.names)
            raise SpaceError(
                f"[space] configuration {dict(config)!r} does not match the parameters"
                f" {', '.join(self.names)}:"
                + (f" it lacks {missing}" if missing else "")
                + (" and" if missing and surplus else "")
                + (f" {surplus} is unknown" if surplus else "")
            )
        row = []
        for name, places in zip(self.names, self._places, strict=True):
            if not isinstance(config[name], Hashable):
                raise SpaceError(
                    f"[space] parameter {name}: {config[name]!r} is not a single value"
                )
            if config[name] not in places:
                return None
            row.append(places[config[name]])
        found = int(self.points(np.array([row], dtype=np.int32))[0])
        return None if found < 0 else found

    def points_of(self, configs: Sequence[Config]) -> list[int]:
        """Return the points of configurations; -1 for those that are not valid. All values must be
        values of the parameters.
        """
        return [int(point) for point in self.points(self._rows(configs))]

    def _rows(self, configs: Sequence[Config]) -> Positions:
        places = list(zip(self.names, self._places, strict=True))
        return np.array([[p[c[n]] for n, p in places] for c in configs], dtype=np.int32)

    def __repr__(self) -> str:
        return f"SearchSpace({', '.join(self.names)}: {self.size:,} configurations)"

    def sample(self, count: int, seed: int) -> list[int]:
        """Draw up to `count` distinct points uniformly, in random order."""
        return random.Random(seed).sample(range(self.size), min(count, self.size))

    def neighbours(self, point: int, *, steps: bool = False) -> list[int]:
        """Return the valid points that differ in one parameter; with `steps`, numeric parameters
        change only to adjacent values.
        """
        (row,) = self.positions([point])
        rows = []
        for at, parameter in enumerate(self.parameters):
            for value in range(len(parameter.values)):
                away = abs(value - int(row[at]))
                if away == 0 or (steps and parameter.numeric and away > 1):
                    continue
                changed = row.copy()
                changed[at] = value
                rows.append(changed)
        if not rows:
            return []
        found = self.points(np.array(rows, dtype=np.int32))
        return [int(x) for x in found[found >= 0]]

    @cached_property
    def features(self) -> FeatureTable:
        """Return the features for a model: see :class:`FeatureTable`."""
        return FeatureTable(self.parameters, self.resources)


def _ascending(name: str, values: Sequence[Value]) -> list[Value]:
    try:
        return sorted(
            set(values),
            key=lambda v: (isinstance(v, str), v if not isinstance(v, str) else 0, str(v)),
        )
    except TypeError as error:
        raise SpaceError(
            f"[space] parameter {name}: values must be numbers or texts: {error}"
        ) from error

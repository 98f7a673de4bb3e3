"""Numerical features of configurations, for models."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import SpaceError
from .parameter import Parameter

Features = NDArray[np.float64]
"""Shape (configurations, features)."""
MOST_PAIRS = 66
"""Maximum number of pairs: the pairs of twelve parameters. More would outweigh the parameters."""


@dataclass(frozen=True)
class Resource:
    """Model of a resource that configurations need: registers, shared memory or cache in bytes."""

    name: str
    function: Callable[..., float]
    names: tuple[str, ...]

    @classmethod
    def of(cls, name: str, function: Callable[..., float]) -> Resource:
        """Create from a function with the names of parameters of the space."""
        return cls(name, function, tuple(inspect.signature(function).parameters))


class FeatureTable:
    """Features of configurations: each parameter (as a logarithm if its values are on a logarithmic
    scale, one-hot if they are texts), its alignment (how often 2 divides it) unless that follows
    from the value, the products and ratios of all pairs of logarithmic parameters, and the declared
    resources.

    Hardware works in powers of two - lanes, warps, banks, cache lines - so that 48 and 96 may have
    more in common than 96 and 100.

    :ivar names: names of the columns.
    """

    def __init__(self, parameters: Sequence[Parameter], resources: Sequence[Resource]) -> None:
        self._parameters, self._resources = parameters, resources
        self._tables: list[Features] = []
        self.names: list[str] = []
        for parameter in parameters:
            self._tables.append(_table(parameter))
            width = self._tables[-1].shape[1]
            self.names += [parameter.name] if width == 1 else [
                f"{parameter.name}={value}" for value in parameter.values
            ]  # fmt: skip
        self._alignments: dict[int, Features] = {}
        for i, parameter in enumerate(parameters):
            if _has_alignment(parameter):
                self._alignments[i] = _alignment(parameter)
                self.names.append(f"{parameter.name} twos")
        scales = [i for i, p in enumerate(parameters) if p.logarithmic]
        self._pairs = list(itertools.combinations(scales, 2))
        if len(self._pairs) > MOST_PAIRS:
            self._pairs = []
        for i, j in self._pairs:
            a, b = parameters[i].name, parameters[j].name
            self.names += [f"{a}*{b}", f"{a}/{b}"]
        self.names += [each.name for each in resources]

    def of(self, positions: NDArray[np.int32]) -> Features:
        """Return the features of value positions with shape (configurations, parameters)."""
        plain = [t[positions[:, i]] for i, t in enumerate(self._tables)]
        columns = plain + [table[positions[:, i]] for i, table in self._alignments.items()]
        for i, j in self._pairs:
            columns += [plain[i] + plain[j], plain[i] - plain[j]]
        columns += [self._needed(each, positions) for each in self._resources]
        return np.concatenate(columns, axis=1)

    def scaled(self, positions: NDArray[np.int32]) -> Features:
        """Return parameters and alignments, each scaled to [0, 1], so that distances are
        meaningful.
        """
        columns = []
        for i, table in [*enumerate(self._tables), *self._alignments.items()]:
            low, high = table.min(axis=0), table.max(axis=0)
            columns.append((table[positions[:, i]] - low) / np.where(high > low, high - low, 1.0))
        return np.concatenate(columns, axis=1)

    def _needed(self, resource: Resource, positions: NDArray[np.int32]) -> Features:
        at = {p.name: i for i, p in enumerate(self._parameters)}
        used = [at[name] for name in resource.names]
        rows, which = np.unique(positions[:, used], axis=0, return_inverse=True)
        answers = []
        for row in rows.tolist():
            values = [self._parameters[i].values[v] for i, v in zip(used, row, strict=True)]
            try:
                answers.append(float(resource.function(*values)))
            except Exception as error:
                raise SpaceError(
                    f"[space] resource {resource.name} failed for {values}: {error}"
                ) from error
        found = np.array(answers)[which.reshape(-1)]
        scaled: Features = np.sign(found[:, None]) * np.log2(1 + np.abs(found[:, None]))
        return scaled


def _table(parameter: Parameter) -> Features:
    """Return a row of features for each value."""
    if not parameter.numeric:
        if len(parameter.values) == 2:
            return np.array([[0.0], [1.0]])
        return np.eye(len(parameter.values))
    numbers = np.array(parameter.values, dtype=np.float64)[:, None]
    return np.log2(numbers) if parameter.logarithmic else numbers


def _has_alignment(parameter: Parameter) -> bool:
    """Return True for more than two integers that are not all powers of two."""
    values = parameter.values
    integers = all(isinstance(v, int) and not isinstance(v, bool) for v in values)
    return (
        integers and len(values) > 2 and any(int(v) <= 0 or int(v) & (int(v) - 1) for v in values)
    )


def _alignment(parameter: Parameter) -> Features:
    """Return how often 2 divides each value; 0, which it always divides, counts as the largest."""
    numbers = [abs(int(v)) for v in parameter.values]
    most = max(numbers).bit_length()
    twos = [(n & -n).bit_length() - 1 if n else most for n in numbers]
    return np.array(twos, dtype=np.float64)[:, None]

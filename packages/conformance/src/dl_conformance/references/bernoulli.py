"""Bernoulli sampling and dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.philox import State, chances
from dl_conformance.reference import Array, Expected, OutputShape, reference


@reference("diopiBernoulli")
def bernoulli(*, input: Array, generator: State) -> dict[str, Any]:
    return {"out": Expected(chances(generator, input), op_class="exact")}


@reference("diopiBernoulliInp")
def bernoulli_in_place(*, inout: Array, generator: State) -> dict[str, Any]:
    return {"inout": Expected(chances(generator, inout), op_class="exact")}


@reference("diopiBernoulliScalar")
def bernoulli_scalar(*, out: OutputShape, p: float, generator: State) -> dict[str, Any]:
    return {"out": Expected(chances(generator, np.full(out, p)), op_class="exact")}


def _dropped(input: Array, shape: OutputShape, p: float, state: State) -> tuple[Expected, Array]:
    keep = 1 - np.longdouble(p)
    kept = chances(state, np.full(shape, keep))
    value = np.where(kept, input / keep if p < 1 else 0, 0)
    return Expected(value, op_class="elementary"), kept


@reference("diopiDropout")
def dropout(
    *, input: Array, mask: OutputShape, p: float, train: bool, generator: State
) -> dict[str, Any]:
    out, kept = _dropped(input, mask, p, generator)
    return {"out": out, "mask": kept}


@reference("diopiDropoutInp")
def dropout_in_place(
    *, input: Array, mask: OutputShape, p: float, train: bool, generator: State
) -> dict[str, Any]:
    out, kept = _dropped(input, mask, p, generator)
    return {"input": out, "mask": kept}

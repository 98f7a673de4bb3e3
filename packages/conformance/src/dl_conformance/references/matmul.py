"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, Expected, reference


def _product(left: Array, right: Array) -> Expected:
    size = np.asarray(np.matmul(np.abs(left), np.abs(right)))
    return Expected(np.asarray(np.matmul(left, right)), left.shape[-1], size)


def _scaled(input: Array, left: Array, right: Array, beta: Any, alpha: Any) -> dict[str, Any]:
    product, scale = np.asarray(np.matmul(left, right)), np.longdouble(alpha)
    size = np.asarray(np.matmul(np.abs(left), np.abs(right)))
    start = 0 if beta == 0 else np.longdouble(beta) * input
    magnitude = np.asarray(np.abs(scale) * size + np.abs(start))
    return {"out": Expected(scale * product + start, left.shape[-1] + 1, magnitude)}


@reference("diopiMm", "diopiBmm")
def mm(*, input: Array, mat2: Array) -> dict[str, Any]:
    return {"out": _product(input, mat2)}


@reference("diopiMatmul")
def matmul(*, input: Array, other: Array) -> dict[str, Any]:
    return {"out": _product(input, other)}


@reference("diopiAddmm")
def addmm(*, input: Array, mat1: Array, mat2: Array, beta: Any, alpha: Any) -> dict[str, Any]:
    return _scaled(input, mat1, mat2, beta, alpha)


@reference("diopiBaddbmm")
def baddbmm(*, input: Array, batch1: Array, batch2: Array, beta: Any, alpha: Any) -> dict[str, Any]:
    return _scaled(input, batch1, batch2, beta, alpha)

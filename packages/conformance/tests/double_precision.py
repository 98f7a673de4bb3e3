"""Operator calls in double precision with their references, to compare with torch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dl_conformance.catalog import cases_of
from dl_conformance.execution import CaseInputs
from dl_conformance.reference import as_expected


def runs(operator: str) -> Iterator[tuple[str, CaseInputs, dict[str, Any]]]:
    """Yield name, arguments and reference results; integer operators have only one precision."""
    for case in cases_of(operator):
        if case.dtype not in ("float32", "complex64") and case.layout == "contiguous":
            inputs = CaseInputs(case)
            yield case.name, inputs, inputs.expected()


def value(want: Any) -> Any:
    return np.asarray(as_expected(want).value)


def double(array: Any) -> Any:
    """Return a torch tensor with the elements of an array."""
    torch = pytest.importorskip("torch")
    dtype = np.complex128 if array.dtype.kind == "c" else np.float64
    return torch.from_numpy(np.ascontiguousarray(array.astype(dtype))).reshape(array.shape)

"""Calls of operators in double precision with their references, to hold those against torch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dl_conformance.catalog import cases_of
from dl_conformance.execute import Run, expected


def runs(operator: str) -> Iterator[tuple[str, Run, dict[str, Any]]]:
    """Name, arguments and references; calls of operators on integers have but one precision."""
    for case in cases_of(operator):
        if case.dtype not in ("float32", "complex64") and case.layout == "contiguous":
            work = Run(None, case)  # type: ignore[arg-type]
            work.make_inputs()
            yield case.name, work, work.want()


def value(want: Any) -> Any:
    return np.asarray(expected(want).value)


def double(array: Any) -> Any:
    """A tensor of torch with the elements of an array."""
    torch = pytest.importorskip("torch")
    dtype = np.complex128 if array.dtype.kind == "c" else np.float64
    return torch.from_numpy(np.ascontiguousarray(array.astype(dtype))).reshape(array.shape)

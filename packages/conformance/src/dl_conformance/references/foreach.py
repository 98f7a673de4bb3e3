"""Operations on lists of tensors."""

from __future__ import annotations

from typing import Any

from dl_conformance.elementwise import as_dtype_of
from dl_conformance.reference import Array, reference


@reference("diopiForeachaddScalar")
def add_number(*, inputs: list[Array], other: Any) -> dict[str, Any]:
    return {"outs": [x + as_dtype_of(x, other) for x in inputs]}


@reference("diopiForeachmulScalar", "diopiForeachmulTensor")
def multiply(*, inputs: list[Array], other: Any) -> dict[str, Any]:
    return {"outs": [x * as_dtype_of(x, other) for x in inputs]}

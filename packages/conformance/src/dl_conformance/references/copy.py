"""Copies between shapes and dtypes."""

from __future__ import annotations

from typing import Any

from dl_conformance.reference import Array, reference


@reference("diopiCastDtype")
def cast(*, input: Array) -> dict[str, Any]:
    return {"out": input}


@reference("diopiCopyInp")
def copy(*, src: Array) -> dict[str, Any]:
    return {"dest": src}

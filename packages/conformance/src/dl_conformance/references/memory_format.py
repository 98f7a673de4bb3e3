"""Memory formats of a device; every device supports ND, number 2 of ``aclFormat``."""

from __future__ import annotations

from typing import Any

from dl_conformance.reference import reference

ND = 2


@reference("diopiNativeMemoryFormatCast")
def cast(*, format: int, **tensors: Any) -> dict[str, Any]:
    assert format == ND
    return {"out": tensors["in"]}


@reference("diopiGetNativeMemoryFormat")
def format_of(*, input: Any) -> dict[str, Any]:
    return {"format": ND}


@reference("diopiTensorDestructionHook")
def destruction_hook(*, ptr: int) -> dict[str, Any]:
    return {}

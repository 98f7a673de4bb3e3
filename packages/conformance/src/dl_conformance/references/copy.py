"""Copies between shapes and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference


@reference("diopiCastDtype")
def cast(*, input: Array) -> dict[str, Any]:
    return {"out": input}


@reference("diopiCopyInp")
def copy(*, src: Array) -> dict[str, Any]:
    return {"dest": src}


@reference("diopiExpand")
def expand(*, input: Array, out: tuple[int, ...]) -> dict[str, Any]:
    return {"out": np.broadcast_to(input, out)}


@reference("diopiContiguous")
def contiguous(*, input: Array, memoryFormat: Any) -> dict[str, Any]:  # noqa: N803
    return {"out": input}

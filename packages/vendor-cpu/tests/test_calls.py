"""Every operator of the vendor has a valid call, so that tests of all operators reach it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from calls import Call, calls_of
from diopi_proto import OperatorError, Vendor
from diopi_proto.schema import expand_dtypes, load
from diopi_proto.tolerance import unit_roundoff
from support import FLOATS, Array, exact, operators


@pytest.mark.parametrize("name", operators())
def test_calls_work(vendor: Vendor, name: str) -> None:
    for call in calls_of(name):
        call.run(vendor)


def in_every_dtype(name: str) -> Iterator[Call]:
    for main in expand_dtypes(load()[name].dtypes):
        yield from calls_of(name, main)


def with_other_layout(call: Call, layout: str) -> Call:
    for name, position, tensor in call.tensors():
        call = call.with_tensor(name, position, replace(tensor, layout=layout))
    return call


def check_alike(call: Call, key: str, got: Array, want: Array) -> None:
    """Check bitwise equality, or for sums equality up to the order of the terms."""
    if got.tobytes() == want.tobytes():
        return
    dtype = {f"{name} {position}": given.dtype for name, position, given in call.tensors()}[key]
    what = f"{call.operator.name}: {key} of {dtype} is {got}, with dense tensors it is {want}"
    assert call.operator.op_class in ("reduction", "matmul") and dtype in FLOATS, what
    # Numbers are below 1, and no sum of these calls has more terms.
    allowed = 64 * unit_roundoff(dtype)
    assert np.allclose(exact(got, dtype), exact(want, dtype), allowed, allowed), what


@pytest.mark.parametrize("layout", ["transposed", "sliced"])
@pytest.mark.parametrize("name", operators())
def test_strides_do_not_change_results(vendor: Vendor, name: str, layout: str) -> None:
    for call in in_every_dtype(name):
        try:
            want = call.results(vendor)
        except OperatorError:
            continue  # the vendor declines the dtype
        got = with_other_layout(call, layout).results(vendor)
        assert got.keys() == want.keys()
        for key, value in got.items():
            check_alike(call, key, value, want[key])

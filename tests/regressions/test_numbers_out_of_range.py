"""Python numbers that do not fit raise an error of the host's own type that says so, for every
parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from diopi_proto import ArgumentError, DiopiError, OutOfMemoryError, Vendor, load_vendor
from diopi_proto.host import Generator, Scalar
from dl_vendor_cpu.plugin import dl_vendor

pytestmark = pytest.mark.vendor("cpu")

TOO_BIG = [1 << 62, 1 << 63, 1 << 64, -(1 << 63) - 1, -(1 << 70), 10**400, 10**5000]
NO_INTEGER = [2.5, float("nan"), float("inf"), "a", None, b"x", object(), 1j]
VALUES = [*TOO_BIG, *NO_INTEGER, np.int64(1 << 62), np.uint64(2**64 - 1)]
ACTIONS: dict[str, Callable[[Vendor, Any], object]] = {
    "size": lambda v, x: v.empty((x,)),
    "second size": lambda v, x: v.empty((2, x)),
    "size next to 0": lambda v, x: v.empty((0, x)),
    "size on the host": lambda v, x: v.empty((x,), device=None),
    "stride": lambda v, x: v.empty((2,), strides=(x,)),
    "stride of one": lambda v, x: v.empty((1,), strides=(x,)),
    "stride on the host": lambda v, x: v.empty((2,), strides=(x,), device=None),
    "device": lambda v, x: v.empty((2,), device=x),
    "properties": lambda v, x: v.properties(x),
    "memory_info": lambda v, x: v.memory_info(x),
    "synchronize": lambda v, x: v.synchronize(x),
    "stream": lambda v, x: v.stream(x),
    "priority": lambda v, x: v.stream(priority=x),
    "event": lambda v, x: v.event(x),
    "seed": lambda v, x: Generator(x),
    "offset": lambda v, x: Generator(0, x),
    "scalar": lambda v, x: v.op.Add(v.empty((1,)), v.empty((1,)), v.empty((1,)), x),
    "typed": lambda v, x: v.op.Add(v.empty((1,)), v.empty((1,)), v.empty((1,)), Scalar(x, "int8")),
    "float": lambda v, x: v.op.Add(
        v.empty((1,)), v.empty((1,)), v.empty((1,)), Scalar(x, "float64")
    ),
    "axis": lambda v, x: v.op.Softmax(v.empty((2,)), v.empty((2,)), x),
    "axes": lambda v, x: v.op.Sum(v.empty(()), v.empty((2,)), (x,)),
}


@pytest.fixture(scope="module")
def vendor() -> Iterator[Vendor]:
    descriptor = dl_vendor()
    assert descriptor is not None
    with load_vendor(descriptor.library) as loaded:
        yield loaded


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("action", ACTIONS.values(), ids=ACTIONS)
def test_values_that_do_not_fit_are_reported(
    vendor: Vendor, action: Callable[[Vendor, Any], object]
) -> None:
    told = []
    for value in VALUES:
        try:
            action(vendor, value)
        except DiopiError as error:
            told.append(str(error))
    assert all("[" in text and len(text) < 600 for text in told)
    # Some are valid for some parameters: None is host memory, 2**62 a seed, 2.5 a scalar.
    assert len(told) >= 5


@pytest.mark.parametrize(
    "arguments", [{"shape": (1 << 62,)}, {"shape": (2,), "strides": (1 << 62,)}]
)
@pytest.mark.parametrize("device", [0, None])
def test_more_than_an_address_space_is_no_memory(
    vendor: Vendor, arguments: dict[str, Any], device: int | None
) -> None:
    with pytest.raises(OutOfMemoryError, match="empty"):
        vendor.empty(**arguments, device=device)
    with pytest.raises(ArgumentError, match="64 bits"):
        vendor.empty((1 << 63,), device=device)


def test_a_view_and_a_copy_tell_too(vendor: Vendor) -> None:
    tensor = vendor.tensor(np.arange(4, dtype=np.float32))
    for big in (1 << 63, 10**5000, -(1 << 70)):
        for arguments in (((big,),), ((1,), (big,)), ((1,), (1,), big)):
            with pytest.raises(ValueError, match="64 bits"):
                tensor.as_strided(*arguments)
    with pytest.raises(ValueError, match="does not fit"):
        tensor.copy_from([10**400] * 4)

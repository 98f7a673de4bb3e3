"""Tests of optimizer steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from support import FLOATS, Array, check, numbers, place

LR, BETA1, BETA2, EPS, DECAY = 0.01, 0.9, 0.99, 1e-6, 0.1


def step_of(
    p: Array,
    g: Array,
    m: Array,
    v: Array,
    top: Array,
    step: int,
    *,
    amsgrad: bool,
    coupled: bool,
    lr: Any,
) -> tuple[Array, Array, Array, Array]:
    one = np.longdouble
    g = g + one(DECAY) * p if coupled else g
    p = p if coupled else p * (1 - one(lr) * one(DECAY))
    m = one(BETA1) * m + (1 - one(BETA1)) * g
    v = one(BETA2) * v + (1 - one(BETA2)) * g * g
    top = np.maximum(top, v)
    used = top if amsgrad else v
    root = np.sqrt(used) / np.sqrt(1 - one(BETA2) ** step) + one(EPS)
    return p - one(lr) / (1 - one(BETA1) ** step) * m / root, m, v, top


@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("name", ["FusedAdamW", "AdamW", "Adam"])
@pytest.mark.parametrize("layout", ["dense", "transposed", "sliced"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_adam_steps(vendor: Vendor, dtype: str, layout: str, name: str, amsgrad: bool) -> None:
    shape = (7, 33)
    placed = [
        place(vendor, numbers(shape, dtype, 171 + i, low, 1), dtype, layout)
        for i, low in enumerate((-1, -1, -1, 0.1, 0.1))
    ]
    (p, g, m, v, top), values = zip(*placed, strict=True)
    want = step_of(*values, 3, amsgrad=amsgrad, coupled=name == "Adam", lr=LR)
    if name == "FusedAdamW":
        steps = [vendor.tensor(np.array(3, np.float32))]
        largest = [top] if amsgrad else None
        vendor.op.FusedAdamW(
            [p], [g], [m], [v], largest, steps, LR, BETA1, BETA2, EPS, DECAY, amsgrad, False
        )
    else:
        vendor.op[f"diopi{name}"](
            p, g, m, v, top if amsgrad else None, LR, BETA1, BETA2, EPS, DECAY, 3, amsgrad
        )
    updated = (p, m, v, top) if amsgrad else (p, m, v)
    # The float parameters of the scalar forms are float32, even for wider tensors.
    loose = dtype == "float64" and name != "FusedAdamW"
    for tensor, reference in zip(updated, want, strict=False):
        if loose:
            assert np.allclose(tensor.numpy(), reference.astype(np.float64), rtol=1e-6, atol=1e-7)
        else:
            check(
                tensor,
                reference,
                OpClass.REDUCTION,
                name,
                reduction_length=16,
                magnitude=np.abs(reference) + 1,
            )


def test_fused_adam_maximises_on_request(vendor: Vendor) -> None:
    tensors = [[vendor.tensor(np.zeros(3, np.float32))] for _ in range(4)]
    tensors[1] = [vendor.tensor(np.ones(3, np.float32))]
    steps = [vendor.tensor(np.array(1, np.float32))]
    vendor.op.FusedAdamW(*tensors, None, steps, LR, BETA1, BETA2, EPS, 0.0, False, True)
    assert (tensors[0][0].numpy() > 0).all()


def test_fused_adam_takes_many_parameters(vendor: Vendor) -> None:
    """More parameters than fit into one launch, of several dtypes, sizes and layouts, each with its
    own step."""
    count, sizes = 60, ((5, 7), (0, 3), (1, 1), (90, 100))
    lists: list[list[Any]] = [[], [], [], []]
    steps, wanted = [], []
    for i in range(count):
        dtype, layout = ("float32", "bfloat16")[i // 40], ("dense", "transposed")[i % 7 == 3]
        step, shape = 1 + i % 3, sizes[i % 4] if i < 8 else (3, i)
        placed = [
            place(vendor, numbers(shape, dtype, 1000 * k + i, low, 1), dtype, layout)
            for k, low in enumerate((-1, -1, -1, 0.1))
        ]
        for tensors, (tensor, _) in zip(lists, placed, strict=True):
            tensors.append(tensor)
        values = [x for _, x in placed]
        wanted.append(step_of(*values, values[3], step, amsgrad=False, coupled=False, lr=LR)[:3])
        step_dtype = (np.float32, np.float64, np.int64)[i % 3]
        steps.append(vendor.tensor(np.array(step, step_dtype)))
    vendor.op.FusedAdamW(*lists, None, steps, LR, BETA1, BETA2, EPS, DECAY, False, False)
    params, _, means, squares = lists
    for got, want in zip(zip(params, means, squares, strict=True), wanted, strict=True):
        for tensor, reference in zip(got, want, strict=True):
            terms = {"reduction_length": 16, "magnitude": np.abs(reference) + 1}
            check(tensor, reference, OpClass.REDUCTION, "FusedAdamW", **terms)


def test_steps_are_counted_in_a_dtype_that_holds_them(vendor: Vendor) -> None:
    lists = [[vendor.tensor(np.ones(3, np.float32))] for _ in range(4)]
    steps = [vendor.tensor(np.array(1, np.int8))]
    with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
        vendor.op.FusedAdamW(*lists, None, steps, LR, BETA1, BETA2, EPS, DECAY, False, False)
    assert (lists[0][0].numpy() == 1).all()


@pytest.mark.parametrize(
    ("momentum", "dampening", "nesterov"),
    [(0.0, 0.0, False), (0.9, 0.0, False), (0.9, 0.3, False), (0.9, 0.0, True)],
)
@pytest.mark.parametrize("layout", ["dense", "transposed", "sliced"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_sgd_steps(
    vendor: Vendor, dtype: str, layout: str, momentum: float, dampening: float, nesterov: bool
) -> None:
    placed = [
        place(vendor, numbers((7, 33), dtype, 191 + i, -1, 1), dtype, layout) for i in (0, 1, 2)
    ]
    (p, g, buf), (param, grad, average) = zip(*placed, strict=True)
    vendor.op.Sgd(p, g, buf if momentum else None, LR, momentum, dampening, DECAY, nesterov)
    one = np.longdouble
    along = grad + one(DECAY) * param
    if momentum:
        average = one(momentum) * average + (1 - one(dampening)) * along
        along = along + one(momentum) * average if nesterov else average
    terms = {"reduction_length": 8, "magnitude": np.full((7, 33), 3.0)}
    check(p, param - one(LR) * along, OpClass.REDUCTION, "Sgd", **terms)
    check(buf, average, OpClass.REDUCTION, "Sgd", **terms)


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
def test_sgd_without_a_buffer_takes_a_first_step(
    vendor: Vendor, dtype: str, nesterov: bool
) -> None:
    p, param = place(vendor, numbers((7, 33), dtype, 194, -1, 1), dtype)
    g, grad = place(vendor, numbers((7, 33), dtype, 195, -1, 1), dtype)
    vendor.op.Sgd(p, g, None, LR, 0.9, 0.3, DECAY, nesterov)
    one = np.longdouble
    along = (grad + one(DECAY) * param) * (one(1.9) if nesterov else 1)
    terms = {"reduction_length": 8, "magnitude": np.full((7, 33), 3.0)}
    check(p, param - one(LR) * along, OpClass.REDUCTION, "Sgd", **terms)


def test_lists_of_mixed_dtypes_are_declined_untouched(vendor: Vendor) -> None:
    floats = [vendor.tensor(np.ones(3, np.float32)) for _ in range(4)]
    mixed = [vendor.tensor(np.ones(3, np.float64)) for _ in range(4)]
    mixed[1] = vendor.tensor(np.ones(3, np.float32))
    steps = [vendor.tensor(np.array(1, np.float32)) for _ in range(2)]
    lists = [[a, b] for a, b in zip(floats, mixed, strict=True)]
    with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
        vendor.op.FusedAdamW(*lists, None, steps, LR, BETA1, BETA2, EPS, DECAY, False, False)
    assert (floats[0].numpy() == 1).all()

"""Root-mean-square normalisation and its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from diopi_proto.tolerance import OpClass
from referenced import Expected, run
from support import ACCUMULATE, FLOATS, LAYOUTS, Array, Exact, check, numbers, out_like, place


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("trailing", [1, 2])
@pytest.mark.parametrize("dtype", FLOATS)
def test_rms_norm_and_its_gradient(
    vendor: Vendor, dtype: str, trailing: int, affine: bool, layout: str
) -> None:
    shape = (6, 5, 90)
    width, axes = shape[3 - trailing :], tuple(range(3 - trailing, 3))
    count = int(np.prod(width))
    rows = (*shape[: 3 - trailing], *(1,) * trailing)
    wide = ACCUMULATE.get(dtype, dtype)
    a, x = place(vendor, numbers(shape, dtype, 64), dtype, layout)
    g, grad = place(vendor, numbers(shape, dtype, 65), dtype, layout)
    w, weight = place(vendor, numbers(width, dtype, 66, 0.5, 2), dtype)
    b, bias = place(vendor, numbers(width, dtype, 67), dtype)
    if not affine:
        w = b = None
        weight, bias = np.ones(width, Exact), np.zeros(width, Exact)
    inverse = 1 / np.sqrt((x * x).mean(axis=axes, keepdims=True) + Exact(1e-6))
    hat = x * inverse
    out, scale = out_like(vendor, shape, dtype, layout), out_like(vendor, rows, wide)
    vendor.op.RMSNorm(out, scale, a, width, w, b, 1e-6)
    size = np.abs(hat * weight) + np.abs(bias)
    bound = {"reduction_length": count, "magnitude": size}
    check(out, hat * weight + bias, OpClass.REDUCTION, "RMSNorm", **bound)
    assert np.allclose(scale.numpy().astype(float), inverse.astype(float), 1e-5)

    saved, inverse = place(vendor, inverse.astype(np.float64), wide)
    hat = x * inverse
    grads = [out_like(vendor, shape, dtype, layout)]
    grads += [out_like(vendor, width, wide) for _ in range(2)]
    vendor.op.RMSNormBackward(*grads, g, a, w, b, saved, width, 1e-6)
    inner = grad * weight
    want = inverse * (inner - hat * (inner * hat).mean(axis=axes, keepdims=True))
    size = np.abs(inner) + np.abs(hat) * np.abs(inner * hat).mean(axis=axes, keepdims=True)
    bound = {"reduction_length": count, "magnitude": inverse * size}
    check(grads[0], want, OpClass.REDUCTION, "RMSNormBackward", **bound)
    outer = tuple(range(3 - trailing))
    length = x.size // count
    for tensor, terms_of in ((grads[1], grad * hat), (grads[2], grad)):
        check(
            tensor, terms_of.sum(axis=outer), OpClass.REDUCTION, "RMSNormBackward",
            reduction_length=length, magnitude=np.abs(terms_of).sum(axis=outer),
        )  # fmt: skip


def root_mean_square_norm(inoutput: Array, scale: Array, eps: float) -> dict[str, Expected]:
    mean = (inoutput * inoutput).mean(axis=-1, keepdims=True)
    normal = inoutput / np.sqrt(mean + Exact(np.float32(eps))) * scale
    return {"inoutput": Expected(normal, inoutput.shape[-1])}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_in_place(vendor: Vendor, dtype: str, layout: str) -> None:
    x, scale = numbers((7, 33), dtype, 68), numbers((33,), dtype, 69)
    run(
        vendor, "diopiRootMeanSquareNormInp", root_mean_square_norm, dtype, layout, inoutput=x,
        scale=scale, eps=1e-5,
    )  # fmt: skip
    # Numbers whose sums are exact: what is normalized is the sum as it is stored.
    whole = [np.round(numbers((7, 33), dtype, 70 + i)) for i in range(2)]

    def added(
        inoutput: Array, residual: Array, bias: Array | None, scale: Array, eps: float
    ) -> dict[str, Expected]:
        total = inoutput + residual + (0 if bias is None else bias)
        normal = root_mean_square_norm(total, scale, eps)
        return {**normal, "residual": Expected(total, 2)}

    for bias in (np.round(numbers((33,), dtype, 72)), None):
        run(
            vendor, "diopiFusedAddRootMeanSquareNormInp", added, dtype, layout, inoutput=whole[0],
            residual=whole[1], bias=bias, scale=scale, eps=1e-5,
        )  # fmt: skip


def test_scales_of_another_length(vendor: Vendor) -> None:
    x, scale = out_like(vendor, (2, 3), "float32"), out_like(vendor, (4,), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiRootMeanSquareNormInp\].* 3 elements"):
        vendor.op.RootMeanSquareNormInp(x, scale, 1e-5)

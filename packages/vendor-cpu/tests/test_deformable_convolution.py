"""Tests of deformable convolutions."""

from __future__ import annotations

import numpy as np
import pytest

from convolutions import Geometry, convolve, input_gradient, weight_gradient
from diopi_proto import OperatorError, Tensor, Vendor
from suite import check_cases
from support import Array, numbers, out_like

OPERATORS = (
    "DeformConvMmcv",
    "DeformConvBackwardInputMmcv",
    "DeformConvBackwardParametersMmcv",
    "ModulatedDeformConvMmcv",
    "ModulatedDeformConvBackwardMmcv",
)
SAME = {"kW": 3, "kH": 3, "dW": 1, "dH": 1, "padW": 1, "padH": 1, "dilationW": 1, "dilationH": 1,
        "groups": 1, "deform_groups": 1, "im2col_step": 1}  # fmt: skip
MODULATED = {"kernel_h": 3, "kernel_w": 3, "stride_h": 1, "stride_w": 1, "pad_h": 1, "pad_w": 1,
             "dilation_h": 1, "dilation_w": 1, "group": 1, "deformable_group": 1}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


class Layer:
    """A layer whose columns do not fit into scratch memory at once."""

    def __init__(self, vendor: Vendor) -> None:
        self.vendor = vendor
        self.arrays = {
            name: numbers(shape, "float64", seed)
            for seed, (name, shape) in enumerate(
                {
                    "input": (2, 64, 64, 62),
                    "weight": (3, 64, 3, 3),
                    "bias": (3,),
                    "grad_output": (2, 3, 64, 62),
                }.items()
            )
        }
        self.tensors = {name: vendor.tensor(x) for name, x in self.arrays.items()}
        self.offset = vendor.tensor(np.zeros((2, 18, 64, 62)))
        self.mask = vendor.tensor(np.ones((2, 9, 64, 62)))

    def zeros(self, name: str) -> Tensor:
        return self.vendor.tensor(np.zeros_like(self.arrays[name]))


@pytest.fixture(scope="module")
def layer(vendor: Vendor) -> Layer:
    return Layer(vendor)


def assert_close(got: Tensor, want: Tensor | Array, scale: float = 1.0) -> None:
    expected = want.numpy() if isinstance(want, Tensor) else want
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12, atol=1e-10 * scale)


def test_without_moves_it_is_a_convolution(vendor: Vendor, layer: Layer) -> None:
    t, arrays = layer.tensors, layer.arrays
    plain = convolve(arrays["input"], arrays["weight"], Geometry(1, 1, 1, 1))
    got = out_like(vendor, (2, 3, 64, 62), "float64")
    vendor.op.ModulatedDeformConvMmcv(
        got, None, None, t["input"], t["weight"], t["bias"], layer.offset, layer.mask,
        *MODULATED.values(), True,
    )  # fmt: skip
    assert_close(got, plain + arrays["bias"][:, None, None])
    vendor.op.DeformConvMmcv(got, None, None, t["input"], t["weight"], layer.offset, *SAME.values())
    assert_close(got, plain)


def test_without_moves_gradients_are_those_of_a_convolution(vendor: Vendor, layer: Layer) -> None:
    t, names = layer.tensors, ("input", "weight", "bias")
    x, weight, _, grad = layer.arrays.values()
    geometry = Geometry(1, 1, 1, 1)
    plain = [
        input_gradient(grad, weight, x.shape, geometry),
        weight_gradient(grad, x, weight.shape, geometry),
        grad.sum((0, 2, 3)),
    ]
    got = [layer.zeros(name) for name in names]
    moves = vendor.tensor(np.zeros((2, 18, 64, 62)))
    vendor.op.ModulatedDeformConvBackwardMmcv(
        *got, moves, vendor.tensor(np.zeros((2, 9, 64, 62))), t["input"], t["weight"], None, None,
        layer.offset, layer.mask, None, t["grad_output"], *MODULATED.values(), True,
    )  # fmt: skip
    for tensor, want in zip(got, plain, strict=True):
        assert_close(tensor, want)
    alone, more = layer.zeros("input"), out_like(vendor, (2, 18, 64, 62), "float64")
    vendor.op.DeformConvBackwardInputMmcv(
        alone, more, t["input"], layer.offset, t["grad_output"], t["weight"], None, *SAME.values()
    )
    assert np.array_equal(alone.numpy(), got[0].numpy())
    assert np.array_equal(more.numpy(), moves.numpy())
    scaled = layer.zeros("weight")
    vendor.op.DeformConvBackwardParametersMmcv(
        t["grad_output"], scaled, t["input"], layer.offset, None, None, *SAME.values(), 2.0
    )
    assert_close(scaled, 2 * plain[1])


def test_moves_of_whole_cells_shift_the_image(vendor: Vendor) -> None:
    image = numbers((1, 1, 5, 6), "float32", 7).astype(np.float32)
    offset = np.zeros((1, 2, 5, 6), np.float32)
    offset[:, 0], offset[:, 1] = 2, -1
    out = out_like(vendor, (1, 1, 5, 6), "float32")
    one = dict.fromkeys(SAME, 1) | {"padW": 0, "padH": 0}
    vendor.op.DeformConvMmcv(
        out, None, None, vendor.tensor(image), vendor.tensor(np.ones((1, 1, 1, 1), np.float32)),
        vendor.tensor(offset), *one.values(),
    )  # fmt: skip
    want = np.zeros_like(image)
    want[..., :3, 1:] = image[..., 2:, :-1]
    assert np.array_equal(out.numpy(), want)


def test_places_that_are_no_numbers_have_no_samples(vendor: Vendor) -> None:
    offset = np.zeros((1, 2, 2, 2), np.float32)
    offset[0, 0] = [[np.nan, np.inf], [-np.inf, 1e30]]
    out = out_like(vendor, (1, 1, 2, 2), "float32")
    one = dict.fromkeys(SAME, 1) | {"padW": 0, "padH": 0}
    vendor.op.DeformConvMmcv(
        out, None, None, vendor.tensor(np.ones((1, 1, 2, 2), np.float32)),
        vendor.tensor(np.ones((1, 1, 1, 1), np.float32)), vendor.tensor(offset), *one.values(),
    )  # fmt: skip
    assert np.array_equal(out.numpy(), np.zeros((1, 1, 2, 2)))


BAD = {
    "kernel 0, stride 1": {"kH": 0},
    "kernel 3, stride 0": {"dW": 0},
    "padding -1": {"padW": -1},
    "dilation 0": {"dilationH": 0},
    "are too large": {"dilationW": 2**40},
    "does not fit on 4 elements along y": {"dilationH": 3},
    "groups is 0": {"groups": 0},
    "deformable groups is -2": {"deform_groups": -2},
    "2 channels do not divide into 3 groups": {"groups": 3},
    "im2col_step is 0": {"im2col_step": 0},
    "the weight has the shape": {"kW": 2},
    "the offset has the shape": {"deform_groups": 2},
    "the output has the shape": {"shapes": {"output": (1, 3, 4, 3)}},
    "the input has the shape": {"shapes": {"input": (2, 4, 4)}},
    "3 filters do not divide into 2 groups": {
        "groups": 2,
        "shapes": {"weight": (3, 1, 3, 3)},
    },
}


@pytest.mark.parametrize("message", BAD)
def test_bad_arguments_are_reported(vendor: Vendor, message: str) -> None:
    changed = dict(BAD[message])
    shapes = {"output": (1, 3, 4, 4), "input": (1, 2, 4, 4), "weight": (3, 2, 3, 3),
              "offset": (1, 18, 4, 4)} | changed.pop("shapes", {})  # fmt: skip
    output, *rest = (out_like(vendor, shape, "float32") for shape in shapes.values())
    with pytest.raises(OperatorError, match=message):
        vendor.op.DeformConvMmcv(output, None, None, *rest, *(SAME | changed).values())


def test_missing_and_misshapen_tensors_are_reported(vendor: Vendor) -> None:
    image, weight = (
        out_like(vendor, (1, 2, 4, 4), "float32"),
        out_like(vendor, (2, 2, 3, 3), "float32"),
    )
    offset, mask = (
        out_like(vendor, (1, 18, 4, 4), "float32"),
        out_like(vendor, (1, 9, 4, 4), "float32"),
    )
    wrong = out_like(vendor, (3,), "float32")
    call = [image, weight, offset, mask]

    def forward(bias: Tensor | None, mask: Tensor) -> None:
        vendor.op.ModulatedDeformConvMmcv(
            image, None, None, image, weight, bias, offset, mask, *MODULATED.values(), True
        )

    def backward(bias: Tensor | None, *gradients: Tensor) -> None:
        vendor.op.ModulatedDeformConvBackwardMmcv(
            gradients[0], gradients[1], bias, *gradients[2:], image, weight, None, None, offset,
            mask, None, image, *MODULATED.values(), True,
        )  # fmt: skip

    with pytest.raises(OperatorError, match="there is no bias"):
        forward(None, mask)
    with pytest.raises(OperatorError, match="the bias has the shape"):
        forward(wrong, mask)
    with pytest.raises(OperatorError, match="the mask has the shape"):
        forward(None, offset)
    with pytest.raises(OperatorError, match="there is no grad_bias"):
        backward(None, *call)
    with pytest.raises(OperatorError, match="grad_bias has the shape"):
        backward(wrong, *call)
    for at, name in enumerate(("input", "weight", "offset", "mask")):
        with pytest.raises(OperatorError, match=f"the gradient of the {name} does not have its"):
            backward(wrong, *call[:at], wrong, *call[at + 1 :])

"""References of gradients match numerical derivatives of the forward references."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from diopi_proto.schema import load
from dl_conformance.inputs import uniform
from dl_conformance.reference import as_expected, compute

STEP = np.longdouble(2) ** -24
ONE, TWO = (1, 1), (2, 2)
CONVOLUTION = dict(stride=ONE, padding=ONE, dilation=ONE, groups=1)
TRANSPOSED = dict(stride=TWO, padding=ONE, dilation=ONE, output_padding=(0, 0), groups=1)
POOL = dict(kernel_size=TWO, stride=TWO, padding=(0, 0), ceil_mode=False)
FLASH = dict(
    gen=None,
    alibi_slopes=None,
    p_dropout=0.0,
    softmax_scale=0.5,
    is_causal=True,
    window_size_left=-1,
    window_size_right=-1,
)


@dataclass(frozen=True)
class Gradient:
    """A gradient and its forward function.

    :ivar tensors: shapes of differentiated inputs, with an optional range: ``"2x3 0.5 2"``.
    :ivar others: other arguments.
    :ivar grads: outputs of the gradient by differentiated parameter.
    :ivar saved: parameters of the gradient that are outputs of the function.
    :ivar grad: parameter of the incoming gradient.
    :ivar more: arguments of the gradient only.
    """

    backward: str
    forward: str
    tensors: Mapping[str, str]
    others: Mapping[str, Any] = field(default_factory=dict)
    grads: Mapping[str, str] = field(default_factory=lambda: {"input": "grad_input"})
    saved: Mapping[str, str] = field(default_factory=dict)
    grad: str = "grad_output"
    out: str = "out"
    more: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()


def of(name: str, shape: str = "3x4", **others: Any) -> Gradient:
    """Return the pair for a function of one input."""
    return Gradient(f"diopi{name}Backward", f"diopi{name}", {"input": shape}, others)


def saving_output(name: str, **others: Any) -> Gradient:
    """Return the pair for a function whose gradient takes its result instead of its input."""
    return Gradient(
        f"diopi{name}Backward",
        f"diopi{name}",
        {"input": "3x4"},
        others,
        saved={"output": "out"},
        without=("input",),
    )


AFFINE = {"input": "grad_input", "weight": "grad_weight", "bias": "grad_bias"}
LABELS = np.array([1, 3, 0])
LOSS = dict(target=LABELS, weight=None, reduction="mean", ignore_index=-100)
QKV = {"q": "grad_q", "k": "grad_k", "v": "grad_v"}

GRADIENTS = [
    saving_output("Softmax", dim=1),
    saving_output("LogSoftmax", dim=1),
    saving_output("Sigmoid"),
    saving_output("Tanh"),
    of("Gelu", approximate="none"),
    of("Gelu", approximate="tanh"),
    of("Silu"),
    of("CrossEntropyLoss", "3x4", label_smoothing=0.125, **LOSS),
    of("NLLLoss", "3x4", **LOSS),
    of("AdaptiveAvgPool2d", "1x2x4x5", output_size=(2, 3)),
    of("AvgPool2d", "1x2x4x6", count_include_pad=True, divisor_override=None, **POOL),
    *(
        Gradient(
            "diopiNormalizeBackward",
            "diopiNormalize",
            {"input": "3x4 0.5 2"},
            {"p": p, "axis": axis, "eps": 1e-12},
            out="output",
        )
        for p, axis in ((1.0, 1), (2.0, 1), (3.0, 0), (float("inf"), 1))
    ),
    Gradient(
        "diopiLinearBackward",
        "diopiLinear",
        {"input": "3x4", "weight": "2x4", "bias": "2"},
        grads=AFFINE,
        without=("bias",),
    ),
    Gradient(
        "diopiConvolution2dBackward",
        "diopiConvolution2d",
        {"input": "1x2x4x3", "weight": "3x2x3x3", "bias": "3"},
        CONVOLUTION,
        grads=AFFINE,
        without=("bias",),
        more={"bias_sizes": (3,)},
    ),
    Gradient(
        "diopiConvTranspose2dBackward",
        "diopiConvTranspose2d",
        {"input": "1x2x3x3", "weight": "2x3x3x2", "bias": "3"},
        TRANSPOSED,
        grads=AFFINE,
        without=("bias",),
        more={"bias_sizes": (3,)},
    ),
    Gradient(
        "diopiLayerNormBackward",
        "diopiLayerNorm",
        {"input": "3x4", "weight": "4", "bias": "4"},
        {"normalized_shape": (4,), "eps": 1e-3},
        grads=AFFINE,
        saved={"mean": "save_mean", "rstd": "save_invstd"},
        without=("eps",),
    ),
    Gradient(
        "diopiRMSNormBackward",
        "diopiRMSNorm",
        {"input": "3x4", "weight": "4", "bias": "4"},
        {"normalized_shape": (4,), "eps": 1e-3},
        grads=AFFINE,
        saved={"inv_rms": "inv_rms"},
    ),
    Gradient(
        "diopiGroupNormBackward",
        "diopiGroupNorm",
        {"input": "2x4x3", "weight": "4", "bias": "4"},
        {"num_groups": 2, "eps": 1e-3},
        grads=AFFINE,
        saved={"mean": "save_mean", "rstd": "save_invstd"},
        without=("bias", "eps"),
    ),
    Gradient(
        "diopiInstanceNormBackward",
        "diopiInstanceNorm",
        {"input": "2x3x5", "scale": "3", "bias": "3"},
        {"axis": 2, "eps": 1e-3},
        grads={"input": "grad_input", "scale": "grad_scale", "bias": "grad_bias"},
        out="output",
    ),
    Gradient(
        "diopiBatchNormBackward",
        "diopiBatchNorm",
        {"input": "4x3x2", "weight": "3", "bias": "3"},
        {
            "running_mean": np.zeros(3, np.longdouble),
            "running_var": np.ones(3, np.longdouble),
            "training": True,
            "momentum": 0.1,
            "eps": 1e-3,
        },
        grads=AFFINE,
        saved={"save_mean": "save_mean", "save_invstd": "save_invstd"},
        without=("bias", "momentum"),
    ),
    Gradient(
        "diopiCdistBackward",
        "diopiCdist",
        {"input1": "3x4"},
        {"input2": uniform("cdist", 8, -1, 1).reshape(2, 4), "p": 3.0, "compute_mode": None},
        grads={"input1": "grad_input"},
        saved={"cdist": "out"},
        without=("compute_mode",),
    ),
    Gradient(
        "dlopAttentionBackward",
        "dlopAttention",
        {"q": "1x2x3x4", "k": "1x1x5x4", "v": "1x1x5x2"},
        {"mask": None, "scale": 0.5, "is_causal": True},
        grads=QKV,
        saved={"out": "out", "lse": "lse"},
        grad="grad_out",
    ),
    Gradient(
        "diopiFlashAttentionBackward",
        "diopiFlashAttention",
        {"q": "1x3x2x4", "k": "1x5x2x4", "v": "1x5x2x4"},
        FLASH,
        grads=QKV,
        saved={"attention_out": "attention_out", "softmax_lse": "softmax_lse"},
        out="attention_out",
    ),
    of("UpsampleLinear", "1x2x3x4", size=(5, 6), align_corners=False, mode="bicubic"),
    Gradient(
        "diopiRoiAlignBackward",
        "diopiRoiAlign",
        {"input": "1x2x5x4"},
        {
            "rois": np.array([[0, 0.5, 1, 3.25, 4]], np.longdouble),
            "spatial_scale": 0.5,
            "pooled_height": 2,
            "pooled_width": 2,
            "sampling_ratio": 2,
            "aligned": True,
        },
        grads={"input": "out"},
        grad="grad",
        without=("input",),
        more={"batch_size": 1, "channels": 2, "height": 5, "width": 4},
    ),
    Gradient(
        "diopiSigmoidFocalLossBackward",
        "diopiSigmoidFocalLoss",
        {"inputs": "3x4"},
        {
            "targets": np.eye(3, 4, dtype=np.longdouble),
            "alpha": 0.25,
            "gamma": 2.0,
            "reduction": "sum",
        },
        grads={"inputs": "grad_input"},
    ),
]
RENAMED = {"diopiSigmoidFocalLossBackward": {"inputs": "input", "targets": "target"}}
RESIZED = {"diopiUpsampleLinearBackward": dict(out_size=(5, 6), in_size=(1, 2, 3, 4))}


def tensor(key: str, text: str) -> np.ndarray:
    shape, _, limits = text.partition(" ")
    low, high = map(float, limits.split()) if limits else (-1.5, 1.5)
    sizes = tuple(map(int, shape.split("x")))
    return uniform(key, int(np.prod(sizes)), low, high).reshape(sizes).astype(np.longdouble)


def outputs_of(name: str, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the results of an operator, except for parameters that it updates in place."""
    operator = load()[name]
    wanted = {p.name for p in operator.outputs}
    found = compute(name, given, wanted)
    return {k: np.asarray(as_expected(v).value) for k, v in found.items()}


@pytest.mark.parametrize("each", GRADIENTS, ids=lambda x: x.backward)
def test_gradient_is_the_slope(each: Gradient) -> None:
    tensors = {name: tensor(f"{each.backward} {name}", x) for name, x in each.tensors.items()}
    results = outputs_of(each.forward, {**tensors, **each.others})
    shape = results[each.out].shape
    grad = uniform(each.backward, int(np.prod(shape)), -1, 1).reshape(shape).astype(np.longdouble)
    renamed = RENAMED.get(each.backward, {})
    given = {renamed.get(k, k): v for k, v in {**tensors, **each.others, **each.more}.items()}
    given = {k: v for k, v in given.items() if k not in each.without}
    given |= {name: results[out] for name, out in each.saved.items()}
    if each.backward in RESIZED:
        del given["input"], given["size"]
        given |= RESIZED[each.backward]
    if each.backward.endswith("AdaptiveAvgPool2dBackward"):
        del given["output_size"]
    found = outputs_of(each.backward, {**given, each.grad: grad})
    for name, output in each.grads.items():
        want = np.zeros_like(tensors[name])
        for at in np.ndindex(want.shape):
            for sign in (1, -1):
                moved = tensors[name].copy()
                moved[at] += sign * STEP
                out = outputs_of(each.forward, {**tensors, **each.others, name: moved})[each.out]
                want[at] += sign * np.sum(out * grad) / (2 * STEP)
        error = np.abs(found[output] - want).max()
        assert error < 1e-8 * (1 + np.abs(want).max()), f"{output}: off by {error}"

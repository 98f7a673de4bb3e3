"""Convolutional networks of ``networks.json``: classification, detection and segmentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dl_conformance.models.decoders import activated
from dl_conformance.models.encoders import c, classifier, layer, layer_norm
from dl_conformance.models.model import Model, of_data
from dl_conformance.models.vision import normalized
from dl_conformance.vocabulary import Calls, T


def convolution(
    inputs: int,
    outputs: int,
    kernel: int | Sequence[int],
    stride: int,
    side: int,
    groups: int = 1,
    dilation: int = 1,
    *,
    bias: bool = False,
) -> dict[str, Any]:
    """Return a convolution that keeps the image's size, up to its stride."""
    high, wide = (kernel, kernel) if isinstance(kernel, int) else kernel
    # Usual initialization range of weights, so that sums have the magnitude of the inputs.
    bound = (inputs // groups * high * wide) ** -0.5
    return dict(
        input=f"1x{inputs}x{side}x{side}",
        weight=T(f"{outputs}x{inputs // groups}x{high}x{wide}", low=-bound, high=bound),
        bias=str(outputs) if bias else None,
        stride=[stride, stride],
        padding=[high // 2 * dilation, wide // 2 * dilation],
        dilation=[dilation, dilation],
        groups=groups,
    )


def backward(call: dict[str, Any], after: int) -> dict[str, Any]:
    """Return the gradients of a convolution with a result of width ``after``."""
    rest = {name: value for name, value in call.items() if name != "bias"}
    outputs = call["weight"].sizes[0]
    grad = f"1x{outputs}x{after}x{after}"
    return dict(rest, grad_output=grad, bias_sizes=None, grad_bias=None)


def network(
    *,
    convolutions: Sequence[Sequence[Any]],
    activation: str = "relu",
    norms: Sequence[tuple[int, int]] = (),
    layer_norms: Sequence[tuple[int, int]] = (),
    pool: tuple[int, int, int, int] | None = None,
    upsample: tuple[int, int, int] | None = None,
    concat: tuple[int, int, int] | None = None,
    scores: str = "",
    head: tuple[int, int] | None = None,
) -> Iterator[Calls]:
    """Return the forward and backward pass of distinct layers.

    :param convolutions: input and output channels, kernel size, stride and image size of each, and
        groups and dilation if they are not 1.
    :param norms: channels and image size of batch normalizations. Without them, convolutions have
        a bias.
    :param layer_norms: channels and rows of normalizations over channels.
    :param pool: channels, image size, kernel size and stride of max pooling.
    :param upsample: channels, and the image size before and after.
    :param concat: channels of two inputs, and the image size.
    :param scores: shape of the scores of a detector.
    :param head: inputs and classes of a classifier after global pooling.
    """
    each = [convolution(*layer, bias=not norms) for layer in convolutions]
    yield c("Convolution2d", *each)
    _, outputs, _, stride, side = convolutions[1][:5]
    yield c("Convolution2dBackward", backward(each[1], -(-side // stride)), dtypes="float32")
    yield from normalized(list(norms))
    for channels, rows in layer_norms:
        yield c(*layer_norm(f"{rows}x{channels}", channels, 1e-6))
    yield from activated(c, activation, f"1x{outputs}x{side}x{side}")
    if pool:
        channels, side, kernel, stride = pool
        window = dict(
            kernel_size=[kernel] * 2, stride=[stride] * 2, padding=[kernel // 2 // stride] * 2
        )
        apart = T(f"1x{channels}x{side}x{side}", apart=True)
        yield c(
            "MaxPool2d MaxPool2dWithIndices",
            dict(input=apart, **window, dilation=[1, 1], ceil_mode=False),
            dtypes="float32",
        )
    if upsample:
        channels, side, after = upsample
        yield c("UpsampleNearest", dict(input=f"1x{channels}x{side}x{side}", size=[after, after]))
    if concat:
        one, other, side = concat
        yield c("Cat", dict(tensors=[f"1x{x}x{side}x{side}" for x in (one, other)], dim=1))
    if scores:
        yield c("Sigmoid", dict(input=scores))
    if head:
        features, classes = head
        yield c("AdaptiveAvgPool2d", dict(input=f"2x{features}x7x7", output_size=[1, 1]))
        yield from classifier(features, classes)


def queries(
    *, hidden: int, heads: int, intermediate: int, objects: int, classes: int
) -> Iterator[Calls]:
    """Return a detector with queries for objects on convolutional features (arXiv 2005.12872)."""
    yield c("Convolution2d", convolution(2048, hidden, 1, 1, 7, bias=True))
    yield from layer(
        hidden=hidden,
        heads=heads,
        tokens=objects,
        intermediate=intermediate,
        eps=1e-5,
        activation="relu",
    )
    yield from classifier(hidden, classes + 1)
    yield c("Sigmoid", dict(input=f"1x{objects}x4"))


MODELS: list[Model] = list(of_data("networks", {"network": network, "queries": queries}))

"""Convolutional networks: classification, detection, and the U-Net of a diffusion model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dl_conformance.models.decoders import linear
from dl_conformance.models.encoders import c, classifier, layer
from dl_conformance.models.model import Model, model
from dl_conformance.vocabulary import Calls, T

Layer = tuple[int, int, int, int, int]
"""Input channels, output channels, kernel size, stride and image size."""

RESNET: tuple[Layer, ...] = (
    (3, 64, 7, 2, 224),
    (64, 64, 1, 1, 56),
    (64, 64, 3, 1, 56),
    (64, 256, 1, 1, 56),
    (256, 128, 1, 1, 56),
    (128, 128, 3, 2, 56),
    (256, 512, 1, 2, 56),
    (256, 256, 3, 1, 14),
    (1024, 256, 1, 1, 14),
    (512, 512, 3, 1, 7),
    (512, 2048, 1, 1, 7),
    (1024, 2048, 1, 2, 14),
)
YOLO: tuple[Layer, ...] = (
    (3, 32, 3, 2, 320),
    (32, 64, 3, 2, 160),
    (64, 64, 1, 1, 80),
    (32, 32, 3, 1, 80),
    (128, 256, 3, 2, 40),
    (256, 512, 3, 2, 20),
    (256, 256, 3, 1, 10),
    (1024, 512, 1, 1, 10),
)
PYRAMID: tuple[Layer, ...] = ((256, 256, 1, 1, 50), (2048, 256, 1, 1, 7), (256, 256, 3, 1, 25))
UNET: tuple[Layer, ...] = (
    (4, 320, 3, 1, 32),
    (320, 320, 3, 2, 32),
    (320, 640, 1, 1, 16),
    (640, 640, 3, 1, 16),
    (1280, 1280, 3, 1, 4),
    (320, 4, 3, 1, 32),
)


def convolution(each: Layer, bias: bool) -> dict[str, object]:
    inputs, outputs, kernel, stride, side = each
    # Usual initialization range of weights, so that sums have the magnitude of the inputs.
    bound = (inputs * kernel * kernel) ** -0.5
    return dict(
        input=f"1x{inputs}x{side}x{side}",
        weight=T(f"{outputs}x{inputs}x{kernel}x{kernel}", low=-bound, high=bound),
        bias=str(outputs) if bias else None,
        stride=[stride, stride],
        padding=[kernel // 2, kernel // 2],
        dilation=[1, 1],
        groups=1,
    )


def backward(each: Layer) -> dict[str, object]:
    _, outputs, kernel, stride, side = each
    after = (side + 2 * (kernel // 2) - kernel) // stride + 1
    call = {k: v for k, v in convolution(each, False).items() if k != "bias"}
    grad = f"1x{outputs}x{after}x{after}"
    return dict(call, grad_output=grad, bias_sizes=None, grad_bias=None)


def normalized(shapes: list[tuple[int, int]]) -> Iterator[Calls]:
    """Return batch normalization and the operators after it, in training."""
    for channels, side in shapes:
        n, x = str(channels), f"2x{channels}x{side}x{side}"
        statistics = dict(running_mean=n, running_var=T(n, low=0.5, high=2))
        yield c(
            "BatchNorm",
            dict(
                input=x,
                weight=n,
                bias=n,
                **statistics,
                save_mean=None,
                save_invstd=None,
                training=False,
                momentum=0.1,
                eps=1e-5,
            ),
            dict(input=x, weight=n, bias=n, **statistics, training=True, momentum=0.1, eps=1e-5),
        )
        yield c(
            "BatchNormBackward",
            dict(
                grad_output=x,
                input=x,
                weight=n,
                **statistics,
                save_mean=T(n, low=-0.1, high=0.1),
                save_invstd=T(n, low=0.5, high=2),
                training=True,
                eps=1e-5,
            ),
        )
        yield c("Add", dict(input=x, other=x))


def resnet() -> Iterator[Calls]:
    yield c("Convolution2d", *(convolution(each, False) for each in RESNET))
    yield c("Convolution2dBackward", *(backward(each) for each in RESNET[1:4]), dtypes="float32")
    yield from normalized([(64, 56), (256, 14), (2048, 7)])
    yield c("Relu ReluInp", dict(input="1x64x112x112"))
    x = "1x64x56x56"
    yield c("ThresholdBackward", dict(grad_output=x, input=x, threshold=0))
    pool = dict(kernel_size=[3, 3], stride=[2, 2], padding=[1, 1], dilation=[1, 1], ceil_mode=False)
    apart = T("1x64x112x112", apart=True)
    yield c("MaxPool2d MaxPool2dWithIndices", dict(input=apart, **pool), dtypes="float32")
    yield c("AdaptiveAvgPool2d", dict(input="2x2048x7x7", output_size=[1, 1]))
    yield c("AdaptiveAvgPool2dBackward", dict(grad_output="2x2048x1x1", input="2x2048x7x7"))
    yield from classifier(2048, 1000)


def mask_rcnn() -> Iterator[Calls]:
    yield c("Convolution2d", *(convolution(each, True) for each in PYRAMID))
    yield c("UpsampleNearest", dict(input="1x256x13x13", size=[25, 25]))
    # Image, left, top, right, bottom.
    boxes = [[0, 4, 4, 60, 60], [0, 0, 0, 100, 40], [0, 16, 32, 24, 96], [0, 50, 50, 99, 99]]
    yield c(
        "RoiAlignMmcv",
        dict(
            input="1x256x25x25",
            rois=T("4x5", values=boxes),
            aligned_height=7,
            aligned_width=7,
            sampling_ratio=2,
            pool_mode=1,
            spatial_scale=0.25,
            aligned=True,
        ),
        dtypes="float32",
    )
    yield c("Linear", linear(4, 12544, 1024, True), linear(4, 1024, 81, True), dtypes="float32")
    yield c(
        "ConvTranspose2d",
        dict(
            input="1x256x14x14",
            weight=T("256x256x2x2", low=-0.06, high=0.06),
            bias="256",
            stride=[2, 2],
            padding=[0, 0],
            output_padding=[0, 0],
            groups=1,
            dilation=[1, 1],
        ),
        dtypes="float32",
    )
    yield c("Sigmoid", dict(input="4x80x28x28"))


def yolo() -> Iterator[Calls]:
    yield c("Convolution2d", *(convolution(each, False) for each in YOLO))
    yield from normalized([(32, 40), (512, 10)])
    yield c("Silu", dict(input="1x64x80x80"))
    yield c("SiluBackward", dict(grad_output="1x64x80x80", input="1x64x80x80"))
    yield c("Cat", dict(tensors=["1x256x20x20", "1x128x20x20"], dim=1))
    yield c("UpsampleNearest", dict(input="1x512x10x10", size=[20, 20]))
    pool = dict(kernel_size=[5, 5], stride=[1, 1], padding=[2, 2], dilation=[1, 1], ceil_mode=False)
    yield c("MaxPool2d", dict(input="1x256x10x10", **pool))
    yield c("Sigmoid", dict(input="1x80x2100"))


def diffusion(heads: int, width: int, levels: Sequence[tuple[int, int]]) -> Iterator[Calls]:
    """Return the U-Net of a latent diffusion model.

    :param heads: heads of the first level with attention.
    :param width: features of a token of the prompt.
    :param levels: channels and image size of each level.
    """
    yield c("Convolution2d", *(convolution(each, True) for each in UNET))
    for channels, side in levels:
        n, x = str(channels), f"1x{channels}x{side}x{side}"
        yield c("GroupNorm", dict(input=x, weight=n, bias=n, num_groups=32, eps=1e-5))
        yield c(
            "GroupNormBackward",
            dict(
                grad_output=x,
                input=x,
                weight=n,
                mean=T("1x32", low=-0.1, high=0.1),
                rstd=T("1x32", low=0.5, high=2),
                num_groups=32,
            ),
        )
        yield c("Silu", dict(input=x))
    # The first level of Stable Diffusion XL has no attention.
    hidden = 320 if width == 768 else 640
    yield from layer(hidden=hidden, heads=heads, tokens=64, intermediate=4 * hidden, eps=1e-5)
    # Cross attention to a prompt of 77 tokens.
    yield c("Linear", linear(77, width, hidden))
    each = hidden // heads
    yield c("Bmm", dict(input=f"{heads}x64x{each}", mat2=f"{heads}x{each}x77"))
    yield c("UpsampleNearest", dict(input="1x640x16x16", size=[32, 32]))
    yield c("Cat", dict(tensors=["1x640x32x32", "1x320x32x32"], dim=1))


MODELS: list[Model] = [
    model("resnet-50", "microsoft/resnet-50", resnet()),
    model("mask-rcnn-r50-fpn", "torchvision maskrcnn_resnet50_fpn", mask_rcnn()),
    model("yolov8s", "ultralytics yolov8s.yaml", yolo()),
    model(
        "stable-diffusion-1.5",
        "stable-diffusion-v1-5 unet/config.json",
        diffusion(8, 768, ((320, 32), (640, 16), (1280, 4))),
    ),
    model(
        "stable-diffusion-xl",
        "stabilityai/stable-diffusion-xl-base-1.0 unet/config.json",
        diffusion(10, 2048, ((320, 64), (640, 32), (1280, 16))),
    ),
]

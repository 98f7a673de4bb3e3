"""Text and image encoders: the forward and backward pass of one layer of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dl_conformance.models.decoders import activated, linear
from dl_conformance.models.model import LARGEST, Model, model, of_data
from dl_conformance.vocabulary import Calls, T, calls

DTYPES = "float32 float16 bfloat16"


def c(operators: str, *each: Mapping[str, object], dtypes: str = DTYPES) -> Calls:
    return calls(operators, *each, dtypes=dtypes, layouts=())


def layer_norm(x: str, hidden: int, eps: float) -> tuple[str, dict[str, object]]:
    n = str(hidden)
    return "LayerNorm", dict(input=x, weight=n, bias=n, normalized_shape=[hidden], eps=eps)


def layer_norm_backward(x: str, rows: str, hidden: int) -> tuple[str, dict[str, object]]:
    return "LayerNormBackward", dict(
        grad_output=x,
        input=x,
        weight=str(hidden),
        bias=str(hidden),
        mean=rows,
        rstd=T(rows, low=0.5, high=2),
        normalized_shape=[hidden],
    )


def layer(
    *,
    hidden: int,
    heads: int,
    tokens: int,
    intermediate: int,
    eps: float,
    batch: int = 1,
    activation: str = "gelu",
    rms_norm: bool = False,
    dtypes: str = DTYPES,
) -> Iterator[Calls]:
    """Return a transformer layer: full attention, then two linear layers."""
    rows = batch * tokens
    x = f"{rows}x{hidden}"
    published = dtypes

    def c(operators: str, *each: Mapping[str, object], dtypes: str = published) -> Calls:
        return calls(operators, *each, dtypes=dtypes, layouts=())

    if rms_norm:
        yield c(
            "RMSNorm",
            dict(input=x, weight=str(hidden), bias=None, normalized_shape=[hidden], eps=eps),
        )
    else:
        yield c(*layer_norm(x, hidden, eps))
        yield c(*layer_norm_backward(x, f"{rows}x1", hidden))
    yield c(
        "Linear",
        linear(rows, hidden, 3 * hidden, True),
        linear(rows, hidden, hidden, True),
        linear(rows, hidden, intermediate, True),
        linear(rows, intermediate, hidden, True),
    )
    each = batch * heads
    dim = hidden // heads
    scores = f"{each}x{tokens}x{tokens}"
    yield c("Bmm", dict(input=f"{each}x{tokens}x{dim}", mat2=f"{each}x{dim}x{tokens}"))
    yield c("Bmm", dict(input=scores, mat2=f"{each}x{tokens}x{dim}"))
    yield c("Softmax", dict(input=scores, dim=-1))
    share = T(scores, low=0, high=2 / tokens)
    yield c("SoftmaxBackward", dict(grad_output=scores, output=share, dim=-1))
    inner = f"{rows}x{intermediate}"
    yield from activated(c, activation, inner)
    yield c("Add", dict(input=x, other=x))


def classifier(hidden: int, classes: int) -> Iterator[Calls]:
    """Return the last layer and the training loss."""
    yield c("Linear", linear(2, hidden, classes, True))
    yield from training_loss(classes)


def training_loss(classes: int) -> Iterator[Calls]:
    scores, labels = f"2x{classes}", T("2", low=0, high=classes - 1, dtype="int64")
    loss = dict(input=scores, target=labels, weight=None, ignore_index=-100, label_smoothing=0.1)
    yield c("CrossEntropyLoss", loss, dtypes="float32")
    yield c("CrossEntropyLossBackward", dict(loss, grad_output="-"), dtypes="float32")


def bert() -> Iterator[Calls]:
    words = T("1x32", low=0, high=30521)
    yield c("Embedding", dict(weight="30522x768", indices=words, padding_idx=0))
    yield c("Embedding", dict(weight="512x768", indices=T("1x32", low=0, high=511), padding_idx=-1))
    yield from layer(hidden=768, heads=12, tokens=32, intermediate=3072, eps=1e-12)
    yield c("Linear", linear(1, 768, 768, True))
    yield c("Tanh", dict(input="1x768"))
    yield from classifier(768, 2)


def patches(hidden: int, size: int, patch: int) -> Iterator[Calls]:
    """Return the convolution that embeds each patch as a token."""
    yield c(
        "Convolution2d",
        dict(
            input=f"1x3x{size}x{size}",
            weight=T(f"{hidden}x3x{patch}x{patch}", low=-0.1, high=0.1),
            bias=str(hidden),
            stride=[patch, patch],
            padding=[0, 0],
            dilation=[1, 1],
            groups=1,
        ),
    )


def vit() -> Iterator[Calls]:
    yield from patches(768, 224, 16)
    yield c("Cat", dict(tensors=["1x1x768", "1x196x768"], dim=1))
    yield from layer(hidden=768, heads=12, tokens=197, intermediate=3072, eps=1e-12)
    yield from classifier(768, 1000)


def internvl() -> Iterator[Calls]:
    yield from patches(1024, 224, 14)
    yield from layer(hidden=1024, heads=16, tokens=65, intermediate=4096, eps=1e-6)
    # Four adjacent patches are merged to one token of the language model.
    yield c("Permute", dict(input="1x8x4x2048", dims=[0, 2, 1, 3]))
    yield c("Linear", linear(16, 4096, 2048, True))


def text(
    *, vocabulary: int, positions: int, hidden: int, classes: int = 0, **of_layer: Any
) -> Iterator[Calls]:
    """Return an encoder or a decoder of words with learned positions, up to its loss."""
    tokens = of_layer["tokens"]
    for rows, padding in ((vocabulary, 0), (positions, -1)):
        if rows and rows * hidden <= LARGEST // 2:
            words = T(f"1x{tokens}", low=0, high=rows - 1)
            table = f"{rows}x{hidden}"
            yield c("Embedding", dict(weight=table, indices=words, padding_idx=padding))
    yield from layer(hidden=hidden, **of_layer)
    if classes:
        yield from classifier(hidden, classes)
    else:
        # The last layer of a language model is as large as the table of its words.
        yield from training_loss(vocabulary)


def image(
    *, size: int, patch: int, hidden: int, classes: int = 0, **of_layer: Any
) -> Iterator[Calls]:
    """Return an encoder of images in patches.

    :param size: width and height of the image; only its first 16 rows of 16 patches are embedded.
    :keyword tokens: number of tokens of a layer, reduced likewise.
    """
    yield from patches(hidden, min(size, 16 * patch), patch)
    yield from layer(hidden=hidden, **of_layer)
    if classes:
        yield from classifier(hidden, classes)


def windows(*, hidden: int, heads: Sequence[int], size: int, classes: int) -> Iterator[Calls]:
    """Return the four stages of an encoder with shifted windows of 7x7 tokens."""
    yield from patches(hidden, size, 4)
    for stage, each in enumerate(heads):
        width = hidden << stage
        yield from layer(
            hidden=width, heads=each, tokens=49, intermediate=4 * width, eps=1e-5, batch=2
        )
    side = size // 4
    yield c("Roll", dict(input=f"1x{side}x{side}x{hidden}", shifts=[-3, -3], dims=[1, 2]))
    yield c("Linear", linear(49, 4 * hidden, 2 * hidden))
    yield from classifier(8 * hidden, classes)


MODELS: list[Model] = [
    model("bert-base", "google-bert/bert-base-uncased", bert()),
    model("vit-b-16", "google/vit-base-patch16-224", vit()),
    model("internvl2-vision", "OpenGVLab/InternVL2-2B", internvl()),
    *of_data("encoders", {"text": text, "image": image, "windows": windows}),
]

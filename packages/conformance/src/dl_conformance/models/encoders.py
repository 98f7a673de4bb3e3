"""Text and image encoders: the forward and backward pass of one layer of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dl_conformance.models.decoders import linear
from dl_conformance.models.model import Model, model
from dl_conformance.vocabulary import Calls, T, calls

DTYPES = "float32 float16 bfloat16"


def c(operators: str, *each: Mapping[str, object], dtypes: str = DTYPES) -> Calls:
    return calls(operators, *each, dtypes=dtypes, layouts=())


def layer(
    *, hidden: int, heads: int, tokens: int, intermediate: int, eps: float, batch: int = 1
) -> Iterator[Calls]:
    """Return a transformer layer: full attention, then two linear layers."""
    rows = batch * tokens
    x = f"{rows}x{hidden}"
    whole = [hidden]
    yield c(
        "LayerNorm",
        dict(input=x, weight=str(hidden), bias=str(hidden), normalized_shape=whole, eps=eps),
    )
    yield c(
        "LayerNormBackward",
        dict(
            grad_output=x,
            input=x,
            weight=str(hidden),
            bias=str(hidden),
            mean=f"{rows}x1",
            rstd=T(f"{rows}x1", low=0.5, high=2),
            normalized_shape=whole,
        ),
    )
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
    yield c("Gelu", dict(input=inner, approximate="none"))
    yield c("GeluBackward", dict(grad_output=inner, input=inner, approximate="none"))
    yield c("Add", dict(input=x, other=x))


def classifier(hidden: int, classes: int) -> Iterator[Calls]:
    """Return the last layer and the training loss."""
    yield c("Linear", linear(2, hidden, classes, True))
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


def swin() -> Iterator[Calls]:
    yield from patches(96, 224, 4)
    for hidden, heads in ((96, 3), (192, 6), (384, 12), (768, 24)):
        yield from layer(
            hidden=hidden, heads=heads, tokens=49, intermediate=4 * hidden, eps=1e-5, batch=2
        )
    yield c("Roll", dict(input="1x56x56x96", shifts=[-3, -3], dims=[1, 2]))
    yield c("Linear", linear(49, 384, 192))
    yield from classifier(768, 1000)


MODELS: list[Model] = [
    model("bert-base", "google-bert/bert-base-uncased", bert()),
    model("vit-b-16", "google/vit-base-patch16-224", vit()),
    model("internvl2-vision", "OpenGVLab/InternVL2-2B", internvl()),
    model("swin-t", "microsoft/swin-tiny-patch4-window7-224", swin()),
]

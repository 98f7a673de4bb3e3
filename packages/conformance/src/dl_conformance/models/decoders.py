"""Layers of decoder-only language models: inference and training with a short prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from dl_conformance.models.model import LARGEST
from dl_conformance.vocabulary import Calls, T, calls

TOKENS = 6
PROMPT = 33
DTYPES = "bfloat16 float16"
Typed = Callable[..., Calls]
""":func:`calls` in the dtypes of a model."""


def linear(tokens: int, inputs: int, outputs: int, bias: bool = False) -> dict[str, object]:
    """Return a linear layer with weights small enough to keep sums at ordinary magnitudes."""
    weight = T(f"{outputs}x{inputs}", low=-0.05, high=0.05)
    return dict(input=f"{tokens}x{inputs}", weight=weight, bias=str(outputs) if bias else None)


def activated(c: Typed, name: str, shape: str) -> Iterator[Calls]:
    """Return an activation and its gradient.

    :param name: ``hidden_act`` of published configurations.
    """
    both = dict(grad_output=shape, input=shape)
    if name == "silu":
        yield c("Silu", dict(input=shape))
        yield c("SiluBackward", both)
    elif name == "relu":
        yield c("Relu ReluInp", dict(input=shape))
        yield c("ThresholdBackward", dict(both, threshold=0))
    elif name == "relu6":
        yield c("Hardtanh HardtanhInp", dict(input=shape, min_val=0, max_val=6))
        yield c("HardtanhBackward", dict(both, min_val=0, max_val=6))
    elif name == "leaky_relu":
        yield c("LeakyRelu LeakyReluInp", dict(input=shape, negative_slope=0.1))
    elif name == "quick_gelu":
        # x * sigmoid(1.702 x), in three operators.
        yield c("MulScalar", dict(input=shape, other=1.702))
        yield c("Sigmoid", dict(input=shape))
        yield c("Mul", dict(input=shape, other=shape))
    else:
        approximate = {"gelu": "none", "gelu_tanh": "tanh"}[name]
        yield c("Gelu", dict(input=shape, approximate=approximate))
        yield c("GeluBackward", dict(both, approximate=approximate))


def attention(
    c: Typed, *, hidden: int, heads: int, key_heads: int, head_dim: int, bias: bool, rotary: int
) -> Iterator[Calls]:
    """Return grouped-query attention with rotary embeddings."""
    query, key = heads * head_dim, key_heads * head_dim
    yield c(
        "Linear",
        linear(TOKENS, hidden, query, bias),
        linear(TOKENS, hidden, key, bias),
        linear(TOKENS, query, hidden),
    )
    yield rotated(c, heads, rotary)
    if key_heads != heads:
        yield rotated(c, key_heads, rotary)
    yield attends(c, heads, key_heads, head_dim)


def rotated(c: Typed, heads: int, size: int) -> Calls:
    """Return the rotary embedding of each head and its gradient."""
    angles = T(f"{PROMPT}x1x{size // 2}", low=-1, high=1)
    x = f"1x{PROMPT}x{heads}x{size}"
    both = (dict(x=x, cos=angles, sin=angles, conj=y, interleaved=False) for y in (False, True))
    return c("RotaryEmbedding", *both)


def attends(c: Typed, heads: int, key_heads: int, head_dim: int) -> Calls:
    """Return causal attention to a prompt."""
    key = f"1x{PROMPT}x{key_heads}x{head_dim}"
    return c(
        "FlashAttention",
        dict(
            q=f"1x{PROMPT}x{heads}x{head_dim}",
            k=key,
            v=key,
            gen=None,
            alibi_slopes=None,
            p_dropout=0.0,
            softmax_scale=head_dim**-0.5,
            is_causal=True,
            window_size_left=-1,
            window_size_right=-1,
        ),
    )


def decoder(
    *,
    hidden: int,
    heads: int,
    key_heads: int,
    head_dim: int,
    intermediate: int,
    vocabulary: int,
    qkv_bias: bool = False,
    head_norm: bool = False,
    eps: float = 1e-5,
    experts: int = 0,
    chosen: int = 0,
    activation: str = "silu",
    rotary_dim: int = 0,
    attended: Iterable[Calls] | None = None,
    dtypes: str = DTYPES,
) -> Iterator[Calls]:
    """Return a decoder layer: grouped-query attention, and gated feed-forward or experts.

    :param rotary_dim: number of elements of a head that are rotated; 0 for all.
    :param attended: calls of the attention; None for :func:`attention`.
    :param dtypes: dtypes of the model; scores and losses are computed in float32.
    """
    tokens = f"{TOKENS}x{hidden}"
    published = dtypes

    def c(operators: str, *each: Mapping[str, object], dtypes: str = published) -> Calls:
        return calls(operators, *each, dtypes=dtypes, layouts=())

    if vocabulary * hidden <= LARGEST:
        words = T(f"2x{TOKENS // 2}", low=0, high=vocabulary - 1)
        yield c("Embedding", dict(weight=f"{vocabulary}x{hidden}", indices=words, padding_idx=-1))
    norms = [(tokens, f"{TOKENS}x1", hidden)]
    if head_norm:
        norms.append((f"{TOKENS}x{heads}x{head_dim}", f"{TOKENS}x{heads}x1", head_dim))
    yield c(
        "RMSNorm",
        *(
            dict(input=x, weight=str(n), bias=None, normalized_shape=[n], eps=eps)
            for x, _, n in norms
        ),
    )
    yield c(
        "RMSNormBackward",
        *(
            dict(
                grad_output=x,
                input=x,
                weight=str(n),
                bias=None,
                grad_bias=None,
                inv_rms=T(m, low=0.5, high=2),
                normalized_shape=[n],
                eps=eps,
            )
            for x, m, n in norms
        ),
    )
    if attended is None:
        attended = attention(
            c,
            hidden=hidden,
            heads=heads,
            key_heads=key_heads,
            head_dim=head_dim,
            bias=qkv_bias,
            rotary=rotary_dim or head_dim,
        )
    yield from attended
    yield c("Linear", linear(TOKENS, hidden, intermediate), linear(TOKENS, intermediate, hidden))
    inner = f"{TOKENS}x{intermediate}"
    yield from activated(c, activation, inner)
    yield c("Mul", dict(input=inner, other=inner))
    yield c("Add", dict(input=tokens, other=tokens))
    if experts:
        # Each token is routed to the experts with the highest scores.
        router = f"{TOKENS}x{experts}"
        yield c("Linear", linear(TOKENS, hidden, experts), dtypes="float32")
        yield c("Softmax", dict(input=router, dim=-1), dtypes="float32")
        yield c(
            "Topk", dict(input=T(router, apart=True), k=chosen, dim=-1, largest=True, sorted=True)
        )
        of = T(str(TOKENS), low=0, high=TOKENS - 1)
        yield c("IndexSelect", dict(input=tokens, dim=0, index=of))
    scores = f"{TOKENS}x{vocabulary}"
    labels = T(str(TOKENS), low=0, high=vocabulary - 1, dtype="int64")
    loss = dict(input=scores, target=labels, weight=None, ignore_index=-100, label_smoothing=0.0)
    yield c("CrossEntropyLoss", loss, dtypes="float32")
    yield c("CrossEntropyLossBackward", dict(loss, grad_output="-"), dtypes="float32")
    yield c("Softmax", dict(input=f"2x{vocabulary}", dim=-1), dtypes="float32")
    likely = T(f"2x{vocabulary}", apart=True)
    yield c("Argmax", dict(input=likely, dim=-1, keepdim=False), dtypes="float32")
    yield c("Topk", dict(input=likely, k=50, dim=-1, largest=True, sorted=True), dtypes="float32")
    yield c("Sort", dict(input=likely, dim=-1, descending=True), dtypes="float32")

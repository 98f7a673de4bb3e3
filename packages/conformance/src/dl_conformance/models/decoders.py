"""Decoder-only language models: inference and training of one layer with a short prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dl_conformance.models.model import LARGEST, Model, model
from dl_conformance.vocabulary import Calls, T, calls

TOKENS = 6
PROMPT = 33
DTYPES = "bfloat16 float16"


def linear(tokens: int, inputs: int, outputs: int, bias: bool = False) -> dict[str, object]:
    """Return a linear layer with weights small enough to keep sums at ordinary magnitudes."""
    weight = T(f"{outputs}x{inputs}", low=-0.05, high=0.05)
    return dict(input=f"{tokens}x{inputs}", weight=weight, bias=str(outputs) if bias else None)


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
) -> Iterator[Calls]:
    """Return a decoder layer: grouped-query attention, and gated feed-forward or experts."""
    tokens = f"{TOKENS}x{hidden}"
    query, key = heads * head_dim, key_heads * head_dim

    def c(operators: str, *each: Mapping[str, object], dtypes: str = DTYPES) -> Calls:
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
    yield c(
        "Linear",
        linear(TOKENS, hidden, query, qkv_bias),
        linear(TOKENS, hidden, key, qkv_bias),
        linear(TOKENS, query, hidden),
        linear(TOKENS, hidden, intermediate),
        linear(TOKENS, intermediate, hidden),
    )
    angles = T(f"{PROMPT}x1x{head_dim // 2}", low=-1, high=1)
    yield c(
        "RotaryEmbedding",
        *(
            dict(
                x=f"1x{PROMPT}x{n}x{head_dim}",
                cos=angles,
                sin=angles,
                conj=conj,
                interleaved=False,
            )
            for n in (heads, key_heads)
            for conj in (False, True)
        ),
    )
    yield c(
        "FlashAttention",
        dict(
            q=f"1x{PROMPT}x{heads}x{head_dim}",
            k=f"1x{PROMPT}x{key_heads}x{head_dim}",
            v=f"1x{PROMPT}x{key_heads}x{head_dim}",
            gen=None,
            alibi_slopes=None,
            p_dropout=0.0,
            softmax_scale=head_dim**-0.5,
            is_causal=True,
            window_size_left=-1,
            window_size_right=-1,
        ),
    )
    inner = f"{TOKENS}x{intermediate}"
    yield c("Silu", dict(input=inner))
    yield c("SiluBackward", dict(grad_output=inner, input=inner))
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


LLAMA: dict[str, Any] = dict(hidden=4096, heads=32, key_heads=8, head_dim=128)

MODELS: list[Model] = [
    model(
        "llama-3.1-8b",
        "meta-llama/Llama-3.1-8B",
        decoder(**LLAMA, intermediate=14336, vocabulary=128256),
    ),
    model(
        "internlm2-7b",
        "internlm/internlm2-7b",
        decoder(**LLAMA, intermediate=14336, vocabulary=92544),
    ),
    model(
        "qwen2-7b",
        "Qwen/Qwen2-7B",
        decoder(
            hidden=3584,
            heads=28,
            key_heads=4,
            head_dim=128,
            intermediate=18944,
            vocabulary=152064,
            qkv_bias=True,
            eps=1e-6,
        ),
    ),
    model(
        "qwen3-8b",
        "Qwen/Qwen3-8B",
        decoder(
            **LLAMA,
            intermediate=12288,
            vocabulary=151936,
            head_norm=True,
            eps=1e-6,
        ),
    ),
    model(
        "deepseek-moe-16b",
        "deepseek-ai/deepseek-moe-16b-base",
        decoder(
            hidden=2048,
            heads=16,
            key_heads=16,
            head_dim=128,
            intermediate=1408,
            vocabulary=102400,
            eps=1e-6,
            experts=64,
            chosen=6,
        ),
    ),
]

"""Decoder-only language models of ``language.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dl_conformance.models.decoders import DTYPES, TOKENS, Typed, attends, decoder, linear, rotated
from dl_conformance.models.model import Model, of_data
from dl_conformance.vocabulary import Calls, calls


def dense(*, devices: int = 1, dtypes: str = DTYPES, **config: Any) -> Iterator[Calls]:
    """Return the calls of one device.

    :param devices: number of devices over which tensor parallelism divides heads, vocabulary and
        feed-forward layers; experts stay whole, because each resides on one device.
    :param dtypes: those in which the model is published.
    """
    yield from decoder(dtypes=dtypes, **divided(config, devices))


def divided(config: Mapping[str, Any], devices: int) -> dict[str, Any]:
    """Return the configuration of one device of several."""
    whole = dict(config)
    divisible = ["heads", "key_heads", "vocabulary"]
    if "experts" not in config:
        divisible.append("intermediate")
    for name in divisible:
        # A key head that cannot be divided is on each device.
        whole[name] = max(1, config[name] // devices)
    return whole


def latent(
    *,
    query_rank: int,
    key_rank: int,
    rotary_dim: int,
    value_dim: int,
    devices: int = 1,
    dtypes: str = DTYPES,
    **config: Any,
) -> Iterator[Calls]:
    """Return a layer with multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1).

    Queries and keys have ``value_dim + rotary_dim`` elements for each head.

    :param query_rank: width of the compressed queries; 0 if they are not compressed.
    :param key_rank: width of the compressed keys and values.
    """
    one = divided(dict(config, key_heads=config["heads"], head_dim=value_dim), devices)
    attended = _latent_attention(
        lambda operators, *each: calls(operators, *each, dtypes=dtypes, layouts=()),
        hidden=one["hidden"],
        heads=one["heads"],
        eps=one["eps"],
        query_rank=query_rank,
        key_rank=key_rank,
        rotary_dim=rotary_dim,
        value_dim=value_dim,
    )
    yield from decoder(attended=attended, dtypes=dtypes, **one)


def _latent_attention(
    c: Typed,
    *,
    hidden: int,
    heads: int,
    eps: float,
    query_rank: int,
    key_rank: int,
    rotary_dim: int,
    value_dim: int,
) -> Iterator[Calls]:
    whole = value_dim + rotary_dim
    ranks = [key_rank, *([query_rank] if query_rank else [])]
    yield c(
        "RMSNorm",
        *(
            dict(input=f"{TOKENS}x{n}", weight=str(n), bias=None, normalized_shape=[n], eps=eps)
            for n in ranks
        ),
    )
    yield c(
        "Linear",
        linear(TOKENS, hidden, key_rank + rotary_dim),
        linear(TOKENS, key_rank, heads * 2 * value_dim),
        *([linear(TOKENS, hidden, query_rank)] if query_rank else []),
        linear(TOKENS, query_rank or hidden, heads * whole),
    )
    yield c("Linear", linear(TOKENS, heads * value_dim, hidden))
    yield rotated(c, heads, rotary_dim)
    # The keys' rotated part is shared by all heads.
    yield rotated(c, 1, rotary_dim)
    # Values are padded to the length of the keys.
    yield attends(c, heads, heads, whole)


MODELS: list[Model] = list(of_data("language", {"decoder": dense, "latent": latent}))

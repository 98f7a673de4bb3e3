"""Encoder-decoder models."""

from __future__ import annotations

from typing import Any

from .batches import WORDS, translation
from .family import Family
from .pretrained import by_its_own_loss, pretrained

T5 = {
    "vocab_size": WORDS,
    "d_model": 32,
    "d_ff": 48,
    "d_kv": 8,
    "num_layers": 2,
    "num_heads": 4,
    "decoder_start_token_id": 0,
}
BART = {
    "vocab_size": WORDS,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 32,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": 2,
}


def translator(name: str, kind: str, size: dict[str, Any] = BART, **settings: Any) -> Family:
    """Return the family of an encoder-decoder text model from transformers."""
    model = kind if kind.endswith("Model") else f"{kind}ForConditionalGeneration"
    return Family(name, pretrained(model, **(size | settings)), translation, by_its_own_loss)


FAMILIES = [
    translator("T5", "T5", T5),
    translator("mT5", "MT5", T5, feed_forward_proj="gated-gelu"),
    translator("UMT5", "UMT5", T5),
    translator(
        "LongT5",
        "LongT5",
        T5,
        local_radius=4,
        encoder_attention_type="transient-global",
        global_block_size=4,
    ),
    translator("BART", "Bart"),
    translator("mBART", "MBart"),
    translator("Pegasus", "Pegasus"),
    translator("Marian", "MarianMTModel", decoder_vocab_size=WORDS),
    translator("Blenderbot", "Blenderbot"),
    translator("M2M-100", "M2M100"),
    translator(
        "LED",
        "LED",
        attention_window=4,
        max_encoder_position_embeddings=32,
        max_decoder_position_embeddings=32,
    ),
    translator("PLBart", "PLBart"),
    translator(
        "ProphetNet",
        "ProphetNet",
        {
            "vocab_size": WORDS,
            "hidden_size": 32,
            "encoder_ffn_dim": 48,
            "decoder_ffn_dim": 48,
            "num_encoder_layers": 2,
            "num_decoder_layers": 2,
            "num_encoder_attention_heads": 4,
            "num_decoder_attention_heads": 4,
            "max_position_embeddings": 32,
            "pad_token_id": 0,
            "decoder_start_token_id": 1,
        },
    ),
]

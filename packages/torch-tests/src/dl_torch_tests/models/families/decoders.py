"""Decoder-only language models."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from ..one_step import Batch
from .batches import WORDS, text
from .family import Family
from .internlm import InternLM2
from .pretrained import by_its_own_loss, pretrained

SIZE = {
    "vocab_size": WORDS,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 32,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
# Every other layer has a recurrent state instead of attention (gated delta rule).
DELTA = {
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "layer_types": ["linear_attention", "full_attention"],
}
GATED = {**SIZE, "intermediate_size": 48, "num_key_value_heads": 2}


def decoder(name: str, kind: str, size: dict[str, Any] = GATED, **settings: Any) -> Family:
    """Return the family of a language model from transformers.

    :param kind: prefix of the names of its classes.
    """
    make = pretrained(kind if kind.endswith("Model") else f"{kind}ForCausalLM", **(size | settings))
    return Family(name, make, text, by_its_own_loss)


def next_words(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    logits = model(batch["input_ids"])
    wanted = batch["labels"][:, 1:].flatten()
    return functional.cross_entropy(logits[:, :-1].flatten(0, 1), wanted), logits


FAMILIES = [
    decoder("Llama", "Llama"),
    Family("InternLM2", lambda: InternLM2(WORDS), text, next_words),
    decoder("Mistral", "Mistral", sliding_window=6),
    decoder("Qwen2", "Qwen2"),
    decoder("Qwen3", "Qwen3", head_dim=8),
    decoder("Qwen3.5", "Qwen3_5", **DELTA, head_dim=8),
    decoder("SmolLM3", "SmolLM3"),
    decoder("ERNIE 4.5", "Ernie4_5"),
    decoder("EXAONE 4", "Exaone4", sliding_window=6),
    decoder("HunYuan", "HunYuanDenseV1", head_dim=8),
    decoder("Seed-OSS", "SeedOss", head_dim=8),
    decoder("BioGPT", "BioGpt", SIZE, intermediate_size=48),
    decoder("CTRL", "CTRLLMHeadModel", SIZE, dff=48),
    decoder("Gemma", "Gemma", head_dim=8),
    decoder("Gemma 2", "Gemma2", head_dim=8, sliding_window=6),
    decoder("Gemma 3", "Gemma3", head_dim=8, sliding_window=6),
    decoder("Phi", "Phi"),
    decoder("Phi-3", "Phi3"),
    decoder("OLMo", "Olmo"),
    decoder("OLMo 2", "Olmo2"),
    decoder("Granite", "Granite"),
    decoder("GLM-4", "Glm4", head_dim=8),
    decoder("Cohere", "Cohere"),
    decoder("StableLM", "StableLm"),
    decoder("Starcoder2", "Starcoder2"),
    decoder("Nemotron", "Nemotron"),
    decoder(
        "MiniCPM3",
        "MiniCPM3",
        num_key_value_heads=4,
        q_lora_rank=16,
        kv_lora_rank=8,
        qk_nope_head_dim=8,
        qk_rope_head_dim=4,
        v_head_dim=8,
    ),
    decoder("Falcon", "Falcon", SIZE),
    decoder("BLOOM", "Bloom", SIZE),
    decoder("OPT", "OPT", SIZE, ffn_dim=48, word_embed_proj_dim=32),
    decoder("MPT", "Mpt", SIZE),
    decoder("GPT", "OpenAIGPTLMHeadModel", SIZE),
    decoder("GPT-2", "GPT2LMHeadModel", SIZE),
    decoder("GPT-BigCode", "GPTBigCode", SIZE),
    decoder("GPT-J", "GPTJ", SIZE, rotary_dim=4),
    decoder("GPT-Neo", "GPTNeo", SIZE, attention_types=[[["global", "local"], 1]], window_size=6),
    decoder("GPT-NeoX", "GPTNeoX", SIZE, intermediate_size=48),
    decoder("CodeGen", "CodeGen", SIZE, rotary_dim=4),
]

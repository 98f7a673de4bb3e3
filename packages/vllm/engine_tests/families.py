"""Small models with random weights, one of each family."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors.torch
import tokenizers
import torch
import transformers

VOCABULARY = 1024
_COMMON = {
    "vocab_size": VOCABULARY,
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "max_position_embeddings": 512,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 2,
}
_GROUPED = {**_COMMON, "num_key_value_heads": 4}


def _gpt2() -> Any:
    return transformers.GPT2Config(
        vocab_size=VOCABULARY,
        n_embd=256,
        n_layer=4,
        n_head=8,
        n_positions=512,
        bos_token_id=0,
        eos_token_id=1,
    )


def _bloom() -> Any:
    return transformers.BloomConfig(
        vocab_size=VOCABULARY, hidden_size=256, n_layer=4, n_head=8, bos_token_id=0, eos_token_id=1
    )


def _opt() -> Any:
    common = {key: value for key, value in _COMMON.items() if key != "intermediate_size"}
    return transformers.OPTConfig(**common, ffn_dim=512, word_embed_proj_dim=256)


CONFIGURATIONS: dict[str, Callable[[], Any]] = {
    "llama": lambda: transformers.LlamaConfig(**_GROUPED),
    "qwen3": lambda: transformers.Qwen3Config(**_GROUPED, head_dim=32),
    "gpt2": _gpt2,
    "opt": _opt,
    "phi": lambda: transformers.PhiConfig(**_COMMON),
    # Windows, capped scores.
    "gemma2": lambda: transformers.Gemma2Config(**_GROUPED, head_dim=32, sliding_window=16),
    # Windows, several bases of the rotary embedding.
    "gemma3": lambda: transformers.Gemma3TextConfig(**_GROUPED, head_dim=32, sliding_window=16),
    # Biases of the scores by distance.
    "bloom": _bloom,
    "mixtral": lambda: transformers.MixtralConfig(
        **_GROUPED, num_local_experts=4, num_experts_per_tok=2
    ),
}
"""Functions that return the configuration of each family."""


def save(family: str, folder: Path) -> Path:
    """Save a model of a family; its weights are large enough for distinct tokens."""
    torch.manual_seed(len(family))
    model = transformers.AutoModelForCausalLM.from_config(CONFIGURATIONS[family]()).float()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.08)
    model.save_pretrained(folder / family)
    return folder / family


def save_tokenizer(folder: Path) -> None:
    """Save a tokenizer next to a model: one token per byte, and names for all other tokens."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    special = ["<s>", "</s>", "<pad>"]
    names = special + alphabet
    names += [f"<{index}>" for index in range(len(names), VOCABULARY)]
    vocabulary = {name: index for index, name in enumerate(names)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    ).save_pretrained(folder)


def save_adapter(folder: Path) -> Path:
    """Save a LoRA adapter of the family "llama" with random weights, in PEFT's format."""
    torch.manual_seed(7)
    configuration, rank = CONFIGURATIONS["llama"](), 8
    hidden = configuration.hidden_size
    keys = hidden // configuration.num_attention_heads * configuration.num_key_value_heads
    shapes = {"q_proj": (hidden, hidden), "v_proj": (keys, hidden), "o_proj": (hidden, hidden)}
    weights = {}
    for layer in range(configuration.num_hidden_layers):
        for name, (rows, columns) in shapes.items():
            prefix = f"base_model.model.model.layers.{layer}.self_attn.{name}"
            weights[f"{prefix}.lora_A.weight"] = torch.randn(rank, columns) * 0.1
            weights[f"{prefix}.lora_B.weight"] = torch.randn(rows, rank) * 0.1
    folder.mkdir()
    safetensors.torch.save_file(weights, folder / "adapter_model.safetensors")
    settings = {"peft_type": "LORA", "r": rank, "lora_alpha": 16, "target_modules": list(shapes)}
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    return folder

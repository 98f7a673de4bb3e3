"""Small models of well-known families with random weights: transformers' models, and a U-Net."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

WORDS = 64
WIDTH = 32
LENGTHS = (8, 12, 20)
SIDES = (32, 48, 64)
"""Width and height of images in pixels."""


@dataclass(frozen=True)
class Family:
    """Model with its inputs.

    :ivar make: function that creates a model, whose call returns one tensor.
    :ivar inputs: function that returns its arguments on the CPU for one of ``sizes``.
    :ivar host_calls: whether host calls are allowed.
    :ivar trains: whether training steps are compared too.
    """

    make: Callable[[], nn.Module]
    inputs: Callable[[int], tuple[Tensor, ...]]
    sizes: tuple[int, ...] = LENGTHS
    host_calls: bool = False
    trains: bool = True


class Output(nn.Module):
    """Wrapper that returns one result of a transformers model."""

    def __init__(self, model: nn.Module, result: str) -> None:
        super().__init__()
        self.model = model
        self.result = result

    def forward(self, *inputs: Tensor) -> Tensor:
        found: Tensor = getattr(self.model(*inputs), self.result)
        return found


class UNet(nn.Module):
    """U-Net with two levels and skip connections."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.first = self._block(3, width)
        self.second = self._block(width, 2 * width)
        self.deepest = self._block(2 * width, 4 * width)
        self.up_second = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.back_second = self._block(4 * width, 2 * width)
        self.up_first = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.back_first = self._block(2 * width, width)
        self.last = nn.Conv2d(width, 2, 1)

    @staticmethod
    def _block(given: int, made: int) -> nn.Module:
        return nn.Sequential(nn.Conv2d(given, made, 3, padding=1), nn.GroupNorm(2, made), nn.SiLU())

    def forward(self, x: Tensor) -> Tensor:
        first = self.first(x)
        second = self.second(F.max_pool2d(first, 2))
        x = self.up_second(self.deepest(F.max_pool2d(second, 2)))
        x = self.up_first(self.back_second(torch.cat([x, second], 1)))
        made: Tensor = self.last(self.back_first(torch.cat([x, first], 1)))
        return made


def _numbers() -> torch.Generator:
    return torch.Generator().manual_seed(3)


def _words(length: int) -> tuple[Tensor, ...]:
    return (torch.randint(0, WORDS, (2, length), generator=_numbers()),)


def _images(side: int) -> tuple[Tensor, ...]:
    return (torch.randn(2, 3, side, side, generator=_numbers()),)


def _batches(size: int) -> tuple[Tensor, ...]:
    return (torch.randn(size, 3, 32, 32, generator=_numbers()),)


def _sounds(length: int) -> tuple[Tensor, ...]:
    """Return a spectrogram of the length that Whisper requires, and the previous tokens."""
    words = torch.randint(0, WORDS, (2, length), generator=_numbers())
    return torch.randn(2, 8, 32, generator=_numbers()), torch.ones(2, 32).long(), words


def _transformers() -> Any:
    """Import transformers.

    :raises ModuleNotFoundError: it is not installed; the message names the command to install it.
    """
    try:
        import transformers
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "the models come from transformers: pip install transformers"
        ) from error
    return transformers


_LAYERS: dict[str, Any] = {
    "vocab_size": WORDS,
    "hidden_size": WIDTH,
    "intermediate_size": 2 * WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
_GROUPED: dict[str, Any] = {**_LAYERS, "num_key_value_heads": 2, "use_cache": False}
_NO_DROPOUT: dict[str, Any] = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def _bert() -> nn.Module:
    t = _transformers()
    return Output(t.BertModel(t.BertConfig(**_LAYERS, **_NO_DROPOUT)), "last_hidden_state")


def _gpt2() -> nn.Module:
    t = _transformers()
    config = t.GPT2Config(
        vocab_size=WORDS,
        n_embd=WIDTH,
        n_layer=2,
        n_head=4,
        n_positions=64,
        use_cache=False,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=1,
    )
    return Output(t.GPT2LMHeadModel(config), "logits")


def _llama() -> nn.Module:
    t = _transformers()
    return Output(t.LlamaForCausalLM(t.LlamaConfig(**_GROUPED)), "logits")


def _llama_of(folder: str) -> nn.Module:
    """Return the Llama of a local folder in float32; nothing is downloaded."""
    t = _transformers()
    model = t.LlamaForCausalLM.from_pretrained(
        folder, local_files_only=True, use_safetensors=True, dtype=torch.float32
    )
    return Output(model, "logits")


def mixtral(**others: Any) -> nn.Module:
    """Return a Mixtral model that selects two of four experts for each token.

    :param others: values of the configuration that replace the small defaults, as in the next two
        functions.
    """
    t = _transformers()
    given = {**_GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2, **others}
    return Output(t.MixtralForCausalLM(t.MixtralConfig(**given)), "logits")


def vit(**others: Any) -> nn.Module:
    """Return a ViT that computes an image's hidden states."""
    t = _transformers()
    sizes = {name: _LAYERS[name] for name in list(_LAYERS)[1:5]}
    given = {**sizes, **_NO_DROPOUT, "image_size": 32, "patch_size": 8, **others}
    model = t.ViTModel(t.ViTConfig(**given), add_pooling_layer=False)
    return Output(model, "last_hidden_state")


def _resnet() -> nn.Module:
    t = _transformers()
    config = t.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[2, 2], layer_type="basic"
    )
    return Output(t.ResNetModel(config), "last_hidden_state")


def whisper(**others: Any) -> nn.Module:
    """Return a Whisper model without a cache."""
    t = _transformers()
    given = {
        "vocab_size": WORDS,
        "num_mel_bins": 8,
        "d_model": WIDTH,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 2 * WIDTH,
        "decoder_ffn_dim": 2 * WIDTH,
        "max_source_positions": 16,
        "max_target_positions": 64,
        "use_cache": False,
        "dropout": 0.0,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 1,
        "suppress_tokens": None,
        "begin_suppress_tokens": None,
        **others,
    }
    return Output(t.WhisperForConditionalGeneration(t.WhisperConfig(**given)), "logits")


FAMILIES: dict[str, Family] = {
    "bert": Family(_bert, _words),
    "gpt2": Family(_gpt2, _words),
    "llama": Family(_llama, _words),
    "vit": Family(vit, _batches, (2, 3, 5)),
    "resnet": Family(_resnet, _images, SIDES),
    "u-net": Family(UNet, _images, SIDES),
    "whisper": Family(whisper, _sounds),
    "mixtral": Family(mixtral, _words, host_calls=True),
}
"""Models by name, which ``-k`` selects."""


def families() -> dict[str, Family]:
    """Return all models, and the Llama of the folder that ``LLAMA_MODEL_DIR`` names."""
    folder = os.environ.get("LLAMA_MODEL_DIR", "")
    if not folder:
        return FAMILIES
    # Optimizers and gradients of large models take several times their memory.
    return {
        **FAMILIES,
        "llama-of-folder": Family(functools.partial(_llama_of, folder), _words, trains=False),
    }

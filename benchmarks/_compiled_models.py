"""The models of the graph compiler's benchmark, with random weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from dl_dicp.testing.model_list import Output, UNet, mixtral, vit, whisper

WORDS = 512

Inputs = tuple[Tensor, ...]


class Layer(nn.Module):
    """A layer of BERT (post-norm, GELU) or GPT-2 (pre-norm, causal mask)."""

    def __init__(self, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def attend(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        made = F.scaled_dot_product_attention(*parts.unbind(0), is_causal=self.causal)
        return self.out(made.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x: Tensor) -> Tensor:
        if self.causal:
            x = x + self.attend(self.first(x))
            return x + self.down(F.gelu(self.up(self.second(x)), approximate="tanh"))
        x = self.first(x + self.attend(x))
        return self.second(x + self.down(F.gelu(self.up(x))))


class Transformer(nn.Module):
    """A BERT-like or GPT-2-like model."""

    def __init__(self, causal: bool, width: int = 256, layers: int = 2) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.places = nn.Parameter(torch.randn(128, width) / 10)
        self.layers = nn.Sequential(*(Layer(width, 4, causal) for _ in range(layers)))

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.layers(self.words(tokens) + self.places[: tokens.shape[1]])
        return F.linear(x, self.words.weight)


class LlamaLayer(nn.Module):
    """A layer with RMS norm, rotary embedding, SwiGLU, and a cache that calls update."""

    def __init__(self, width: int, heads: int, most: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, 2 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(2 * width, width, bias=False)
        self.first, self.second = (nn.Parameter(torch.ones(width)) for _ in range(2))
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, heads, most, width // heads))

    @staticmethod
    def normed(x: Tensor, scale: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * scale

    @staticmethod
    def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-second, first], -1) * sin

    def forward(self, x: Tensor, places: Tensor, cos: Tensor, sin: Tensor, seen: Tensor) -> Tensor:
        q, k, v = (
            part.view(1, x.shape[1], self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.normed(x, self.first)).chunk(3, dim=-1)
        )
        self.keys.index_copy_(2, places, self.rotated(k, cos, sin))
        self.values.index_copy_(2, places, v.to(self.values.dtype))  # autocast
        made = F.scaled_dot_product_attention(
            self.rotated(q, cos, sin), self.keys, self.values, attn_mask=seen
        )
        x = x + self.out(made.transpose(1, 2).flatten(2))
        y = self.normed(x, self.second)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """A Llama-like model, with a cache for `most` positions."""

    def __init__(self, width: int = 256, layers: int = 2, most: int = 128) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.layers = nn.ModuleList(LlamaLayer(width, 4, most) for _ in range(layers))
        head = width // 4
        angles = torch.outer(torch.arange(most), 10 ** (-4 * torch.arange(0, head, 2) / head))
        self.register_buffer("cos", torch.cat([angles.cos()] * 2, -1))
        self.register_buffer("sin", torch.cat([angles.sin()] * 2, -1))
        self.most = most

    def forward(self, tokens: Tensor, places: Tensor) -> Tensor:
        x = self.words(tokens)
        cos, sin = self.cos[places], self.sin[places]
        seen = torch.arange(self.most, device=x.device) <= places[:, None]
        for layer in self.layers:
            x = layer(x, places, cos, sin, seen)
        return F.linear(x[:, -1:], self.words.weight)


class Block(nn.Module):
    """A residual block: two convolutions and a shortcut."""

    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.one = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.two = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.first, self.second = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
        self.short = nn.Conv2d(channels, out, 1, stride, bias=False) if stride > 1 else None

    def forward(self, x: Tensor) -> Tensor:
        y = self.second(self.two(F.relu(self.first(self.one(x)))))
        return F.relu(y + (x if self.short is None else self.short(x)))


def resnet18() -> nn.Module:
    """Return a ResNet-18 with half the channels: four stages of two blocks."""
    stages = [nn.Conv2d(3, 32, 7, 2, 3, bias=False), nn.BatchNorm2d(32), nn.ReLU()]
    channels = 32
    for out, stride in ((32, 1), (64, 2), (128, 2), (256, 2)):
        stages += [Block(channels, out, stride), Block(out, out, 1)]
        channels = out
    return nn.Sequential(*stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10))


def resnet50() -> nn.Module:
    """Return the unmodified ResNet-50 of transformers."""
    from transformers import ResNetConfig, ResNetModel

    return Output(ResNetModel(ResNetConfig()), "pooler_output")


def small_vit() -> nn.Module:
    """Return a small model of two layers."""
    return vit(hidden_size=256, intermediate_size=1024, image_size=128, patch_size=16)


def whisper_tiny() -> nn.Module:
    """Return a Whisper with a small vocabulary, for two seconds of sound."""
    layers = {
        f"{half}_{name}": count
        for half in ("encoder", "decoder")
        for name, count in (("layers", 4), ("attention_heads", 6), ("ffn_dim", 1536))
    }
    return whisper(
        vocab_size=WORDS, num_mel_bins=80, d_model=384, max_source_positions=100, **layers
    )


def small_mixtral() -> nn.Module:
    """Return a small model of two layers."""
    return mixtral(
        vocab_size=WORDS, hidden_size=256, intermediate_size=512, max_position_embeddings=128
    )


def tokens(batch: int, length: int) -> Tensor:
    """Return random token ids."""
    return torch.randint(0, WORDS, (batch, length))


def images(batch: int, side: int) -> Tensor:
    """Return random images."""
    return torch.randn(batch, 3, side, side)


@dataclass(frozen=True)
class Case:
    """A model to measure.

    :ivar make: function that creates a model whose call returns one tensor.
    :ivar inputs: function that creates the inputs of a call.
    :ivar trains: measure a training step without the optimizer instead of a call.
    """

    make: Callable[[], nn.Module]
    inputs: Callable[[], Inputs]
    trains: bool = False


INFERENCE = {
    "BERT": Case(lambda: Transformer(causal=False), lambda: (tokens(2, 64),)),
    "GPT-2": Case(lambda: Transformer(causal=True), lambda: (tokens(2, 64),)),
    "Llama prefill": Case(Llama, lambda: (tokens(1, 64), torch.arange(64))),
    "Llama decode": Case(Llama, lambda: (tokens(1, 1), torch.tensor([64]))),
    "ViT": Case(small_vit, lambda: (images(1, 128),)),
    "ResNet-18": Case(resnet18, lambda: (images(1, 64),)),
    "ResNet-50": Case(resnet50, lambda: (images(1, 64),)),
    "U-Net": Case(lambda: UNet(16), lambda: (images(1, 64),)),
    "Whisper-tiny": Case(
        whisper_tiny, lambda: (torch.randn(1, 80, 200), torch.ones(1, 200).long(), tokens(1, 32))
    ),
    "Mixtral-tiny": Case(small_mixtral, lambda: (tokens(1, 64),)),
}
CASES = INFERENCE | {
    f"{name} training": Case(case.make, case.inputs, trains=True)
    for name, case in INFERENCE.items()
    if not name.startswith("Llama")  # this one's cache is for inference
}
"""Models for inference and training, by name."""

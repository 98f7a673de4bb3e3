"""Small models of common families: BERT, GPT-2, Llama and ResNet."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

WIDTH, HEADS, WORDS = 32, 4, 50


class Encoder(nn.Module):
    """BERT: learned positions, post-norm layers, GELU."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Embedding(16, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor) -> Tensor:
        batch, length = tokens.shape
        places = torch.arange(length, device=tokens.device)
        x = self.norm(self.words(tokens) + self.places(places))
        parts = self.qkv(x).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(parts[0], parts[1], parts[2])
        x = self.norm(x + self.dropout(self.out(attended.transpose(1, 2).flatten(2))))
        return self.norm(x + self.dropout(self.down(F.gelu(self.up(x)))))


class Decoder(nn.Module):
    """GPT-2: pre-norm, a causal mask, the token embedding as the last layer."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(approximate="tanh"), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens)
        batch, length, _ = x.shape
        q, k, v = (
            part.view(batch, length, HEADS, -1).transpose(1, 2)
            for part in self.qkv(self.first(x)).chunk(3, dim=-1)
        )
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, -1))
        return F.linear(x + self.mlp(self.second(x)), self.words.weight)


class Llama(nn.Module):
    """Llama: RMS norm, rotary embedding, SwiGLU, and a key-value cache that calls update."""

    def __init__(self, most: int = 16) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.scale = nn.Parameter(torch.ones(WIDTH))
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate, self.up = nn.Linear(WIDTH, 64, bias=False), nn.Linear(WIDTH, 64, bias=False)
        self.down = nn.Linear(64, WIDTH, bias=False)
        head = WIDTH // HEADS
        angles = torch.outer(torch.arange(most), 10 ** (-4 * torch.arange(0, head, 2) / head))
        self.register_buffer("cos", torch.cat([angles.cos()] * 2, -1))
        self.register_buffer("sin", torch.cat([angles.sin()] * 2, -1))
        self.register_buffer("keys", torch.zeros(1, HEADS, most, head))
        self.register_buffer("values", torch.zeros(1, HEADS, most, head))

    def normed(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale

    def rotated(self, x: Tensor, places: Tensor) -> Tensor:
        first, second = x.chunk(2, dim=-1)
        return x * self.cos[places] + torch.cat([-second, first], -1) * self.sin[places]

    def forward(self, tokens: Tensor, places: Tensor) -> Tensor:
        x = self.words(tokens)
        q, k, v = (
            part.view(1, tokens.shape[1], HEADS, -1).transpose(1, 2)
            for part in self.qkv(self.normed(x)).chunk(3, dim=-1)
        )
        self.keys.index_copy_(2, places, self.rotated(k, places))
        self.values.index_copy_(2, places, v)
        seen = torch.arange(self.keys.shape[2], device=x.device) <= places[:, None]
        attended = F.scaled_dot_product_attention(
            self.rotated(q, places), self.keys, self.values, attn_mask=seen
        )
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        y = self.normed(x)
        x = x + self.down(F.silu(self.gate(y)) * self.up(y))
        return F.linear(self.normed(x), self.words.weight)


class Residual(nn.Module):
    """ResNet: convolutions, batch norm, a shortcut, pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.conv = nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.last = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = F.max_pool2d(F.relu(self.norm(self.stem(x))), 2)
        x = F.relu(x + self.norm(self.conv(x)))
        return self.last(F.adaptive_avg_pool2d(x, 1).flatten(1))


def tokens(batch: int = 2, length: int = 8) -> Tensor:
    """Return token indices."""
    return torch.randint(0, WORDS, (batch, length), generator=torch.Generator().manual_seed(3))


def images() -> Tensor:
    """Return a batch of random images."""
    return torch.randn(2, 3, 16, 16, generator=torch.Generator().manual_seed(4))


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[Tensor, ...]]]] = {
    "encoder": (Encoder, lambda: (tokens(),)),
    "decoder": (Decoder, lambda: (tokens(),)),
    "llama": (Llama, lambda: (tokens(1, 5), torch.arange(5))),
    "residual": (Residual, lambda: (images(),)),
}
TRANSFORMERS = ("encoder", "decoder", "llama")


def on_dl(name: str, seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Return a model on dl with reproducible weights, and its arguments."""
    make, inputs = MODELS[name]
    torch.manual_seed(seed)
    return make().to("dl"), tuple(x.to("dl") for x in inputs())

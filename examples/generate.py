"""Continue a batch of token sequences by a GPT-style decoder in bfloat16 with random weights."""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from common import default_device

WORDS, WIDTH, HEADS, LAYERS, LENGTH = 8192, 768, 12, 6, 256


class Layer(nn.Module):
    """Attention with a key-value cache, and two linear layers.

    :param rows: number of sequences in the batch, each with its part of the cache.
    """

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(rows, HEADS, LENGTH, WIDTH // HEADS))

    def forward(self, x: Tensor, place: int) -> Tensor:
        q, k, v = (
            part.view(len(x), HEADS, 1, -1) for part in self.qkv(self.first(x)).chunk(3, dim=-1)
        )
        self.keys[:, :, place : place + 1] = k
        self.values[:, :, place : place + 1] = v
        seen = self.keys[:, :, : place + 1], self.values[:, :, : place + 1]
        x = x + self.out(F.scaled_dot_product_attention(q, *seen).view(len(x), WIDTH))
        return x + self.down(F.gelu(self.up(self.second(x)), approximate="tanh"))


class Decoder(nn.Module):
    """Maps the tokens at one position to the logits of the next."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.ModuleList(Layer(rows) for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, tokens: Tensor, place: int) -> Tensor:
        x = self.words(tokens) + self.places.weight[place]
        for layer in self.layers:
            x = layer(x, place)
        return self.head(self.norm(x))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", type=torch.device, default=default_device())
    parser.add_argument("--rows", type=int, default=8, help="number of sequences in the batch")
    parser.add_argument("--rounds", type=int, default=3, help=f"number of {LENGTH}-token runs")
    args = parser.parse_args()

    torch.manual_seed(0)
    model = Decoder(args.rows).bfloat16().to(args.device).eval()
    with torch.no_grad():
        for _ in range(args.rounds):
            tokens = torch.arange(args.rows, device=args.device) * 100
            for place in range(LENGTH):
                tokens = model(tokens, place).argmax(-1)
    print("last tokens", *tokens.tolist())


if __name__ == "__main__":
    main()

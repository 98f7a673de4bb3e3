"""Training steps of a decoder: hand-written attention, gated layers, dropout, AdamW.

``amp``: with autocast to bfloat16. ``checkpoint``: with activation checkpointing. ``fused``: with
torch's fused attention.
"""

from __future__ import annotations

import sys

import torch
import torch.nn.functional as F  # noqa: N812  (the usual name)
from torch import nn
from torch.utils.checkpoint import checkpoint

STEPS = 5


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.gate, self.up = nn.Linear(width, 2 * width), nn.Linear(width, 2 * width)
        self.down, self.dropout = nn.Linear(2 * width, width), nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, length, width = x.shape
        q, k, v = (
            self.qkv(self.first(x)).view(rows, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        )
        if "fused" in sys.argv:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            mixed = (q @ k.transpose(-1, -2) / (width // 4) ** 0.5).softmax(-1) @ v
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        y = self.second(x)
        kept: torch.Tensor = self.dropout(self.down(F.silu(self.gate(y)) * F.gelu(self.up(y))))
        return x + kept


class Decoder(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, width)
        self.blocks = nn.ModuleList([Block(width), Block(width)])
        self.head = nn.Linear(width, 50)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for block in self.blocks:
            again = "checkpoint" in sys.argv and self.training
            x = checkpoint(block, x, use_reentrant=False) if again else block(x)
        logits: torch.Tensor = self.head(x)
        return logits.tanh().sigmoid()


def main() -> None:
    torch.manual_seed(0)
    device = torch.accelerator.current_accelerator()
    assert device is not None
    model = Decoder().to(device)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=1e-2, foreach="foreach" in sys.argv or None
    )
    for _ in range(STEPS):
        tokens = torch.randint(0, 50, (4, 12)).to(device)
        amp = torch.autocast(device.type, dtype=torch.bfloat16, enabled="amp" in sys.argv)
        with amp:
            logits = model(tokens)
        loss = F.cross_entropy(logits.float().flatten(0, 1), tokens.roll(-1, 1).flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        print("loss", loss.item(), flush=True)


main()

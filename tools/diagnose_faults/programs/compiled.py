"""Training steps of a gated block compiled with torch.compile(backend="dl")."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  (the usual name)
from torch import nn

STEPS = 6


class Gated(nn.Module):
    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.norm, self.up = nn.LayerNorm(width), nn.Linear(width, 2 * width)
        self.gate, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        mixed = F.silu(self.gate(y)) * self.up(y).tanh()
        scores: torch.Tensor = (x + self.down(F.relu(mixed))).softmax(-1)
        return scores


def main() -> None:
    torch.manual_seed(0)
    device = torch.accelerator.current_accelerator()
    model = Gated().to(device)
    compiled = torch.compile(model, backend="dl")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(STEPS):
        x, y = torch.randn(16, 24).to(device), torch.randint(0, 24, (16,)).to(device)
        loss = F.nll_loss((compiled(x) + 1e-3).log(), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("loss", loss.item(), flush=True)


main()

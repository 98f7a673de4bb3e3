"""Training steps of a perceptron with dropout and Adam; its activations are larger than 1 MB."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  (the usual name)
from torch import nn

STEPS = 4


def main() -> None:
    torch.manual_seed(0)
    device = torch.accelerator.current_accelerator()
    model = nn.Sequential(
        nn.Linear(24, 1100),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(1100, 32),
        nn.Tanh(),
        nn.Dropout(0.5),
        nn.Linear(32, 5),
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False)
    for _ in range(STEPS):
        x, y = torch.randn(256, 24).to(device), torch.randint(0, 5, (256,)).to(device)
        scores = model(x)
        scale = torch.where(scores > 0, scores, scores * 0.1).square().mean().sqrt()
        loss = F.cross_entropy(scores, y) + 0.01 * scale
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("loss", loss.item(), flush=True)


main()

"""Training steps of a convolutional network with batch and group norm, pooling, and SGD."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  (the usual name)
from torch import nn

STEPS = 5


def main() -> None:
    torch.manual_seed(0)
    device = torch.accelerator.current_accelerator()
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 24, 3, stride=2),
        nn.GroupNorm(4, 24),
        nn.LeakyReLU(0.1),
        nn.Upsample(scale_factor=2),
        nn.AvgPool2d(2),
        nn.Dropout(0.2),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(96, 10),
    ).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
    for _ in range(STEPS):
        x, y = torch.randn(4, 3, 16, 16).to(device), torch.randint(0, 10, (4,)).to(device)
        out = model(x)
        loss = F.cross_entropy(out, y) + 0.1 * F.mse_loss(out.softmax(1), F.one_hot(y, 10).float())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("loss", loss.item(), flush=True)


main()

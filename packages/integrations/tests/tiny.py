"""Model and data for fast tests, which check the device of the training."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.data import Dataset

DEVICE = torch.device("dl", 0)


class Examples(Dataset[dict[str, torch.Tensor]]):
    """Data set of rows with a label that can be learned."""

    def __init__(self, count: int = 24) -> None:
        numbers = torch.Generator().manual_seed(3)
        self.x = torch.randn(count, 8, generator=numbers)
        self.labels = (self.x[:, 0] > 0).long()

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"x": self.x[index], "labels": self.labels[index]}


class Classifier(nn.Module):
    """Two layers with dropout in between. Records the dtype of its matrix products."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 2)
        self.dropout = nn.Dropout(0.3)
        self.losses: list[float] = []
        self.dtypes: set[torch.dtype] = set()

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        # A silent fallback to the CPU must fail the tests.
        assert x.device == labels.device == self.first.weight.device == DEVICE
        hidden = self.first(x)
        self.dtypes.add(hidden.dtype)
        logits = self.second(self.dropout(torch.relu(hidden)))
        loss = nn.functional.cross_entropy(logits, labels)
        if self.training:
            self.losses.append(loss.item())
        return {"loss": loss, "logits": logits}


def build_classifier() -> Classifier:
    """Return the same model each time."""
    torch.manual_seed(0)
    return Classifier()

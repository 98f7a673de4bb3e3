"""Tabular models, and image models without convolution or attention."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ..one_step import Batch, classify
from ..small_steps import FEATURES, multilayer_perceptron
from .batches import CLASSES
from .family import Family

ROWS, ITEMS, FIELDS, WIDTH = 16, 30, 3, 8


def table_rows() -> Batch:
    return {"inputs": torch.randn(ROWS, FEATURES), "labels": torch.randint(CLASSES, (ROWS,))}


class Recommender(nn.Module):
    """Bags of items and numbers that interact (DLRM): bags (FIELDS, ROWS, 4), numbers -> logits."""

    def __init__(self) -> None:
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(ITEMS, WIDTH, mode="sum") for _ in range(FIELDS))
        self.numbers = nn.Sequential(nn.Linear(FEATURES, 16), nn.SiLU(), nn.Linear(16, WIDTH))
        pairs = (FIELDS + 1) * FIELDS // 2
        self.top = nn.Sequential(nn.Linear(WIDTH + pairs, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, bags: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        dense = self.numbers(numbers)
        parts = [dense, *(bag(items) for bag, items in zip(self.bags, bags, strict=True))]
        stacked = torch.stack(parts, dim=1)
        row, column = torch.tril_indices(FIELDS + 1, FIELDS + 1, -1, device=dense.device)
        products = torch.bmm(stacked, stacked.transpose(1, 2))[:, row, column]
        return self.top(torch.cat([dense, products], dim=1)).squeeze(1)


def visits() -> Batch:
    """Return the items that visitors viewed, and a label of their return."""
    return {
        "bags": torch.randint(ITEMS, (FIELDS, ROWS, 4)),
        "numbers": torch.randn(ROWS, FEATURES),
        "again": torch.randint(2, (ROWS,)).float(),
    }


def recommend(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    logits = model(batch["bags"], batch["numbers"])
    return functional.binary_cross_entropy_with_logits(logits, batch["again"]), logits


class Mixer(nn.Module):
    """MLP-Mixer: (rows, 3, 32, 32) -> logits (rows, CLASSES)."""

    def __init__(self, width: int = 24, patches: int = 16, layers: int = 2) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, stride=8)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers))
        self.places = nn.ModuleList(self.mix(patches) for _ in range(layers))
        self.channels = nn.ModuleList(self.mix(width) for _ in range(layers))
        self.classifier = nn.Linear(width, CLASSES)

    @staticmethod
    def mix(width: int) -> nn.Sequential:
        return nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.patches(images).flatten(2).transpose(1, 2)
        for at, (places, channels) in enumerate(zip(self.places, self.channels, strict=True)):
            x = x + places(self.norms[2 * at](x).transpose(1, 2)).transpose(1, 2)
            x = x + channels(self.norms[2 * at + 1](x))
        return self.classifier(x.mean(dim=1))


def pictures() -> Batch:
    return {"inputs": torch.randn(4, 3, 32, 32), "labels": torch.randint(CLASSES, (4,))}


def near_and_far() -> Batch:
    """Return triplets of rows: an anchor, a similar row, and a different row."""
    one = torch.randn(ROWS, FEATURES)
    return {"one": one, "like": one + 0.3 * torch.randn_like(one), "other": torch.randn_like(one)}


def by_distance(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a triplet loss: similar items have to be nearer."""
    places = functional.normalize(model(torch.cat([batch["one"], batch["like"], batch["other"]])))
    one, like, other = places.chunk(3)
    return functional.triplet_margin_loss(one, like, other, margin=1.0), places


FAMILIES = [
    Family("Multilayer perceptron", multilayer_perceptron, table_rows, classify, rate=5e-3),
    Family("DLRM", Recommender, visits, recommend, rate=5e-3),
    Family("MLP-Mixer", Mixer, pictures, classify, rate=5e-3),
    Family("Siamese network", multilayer_perceptron, near_and_far, by_distance, rate=5e-3),
]

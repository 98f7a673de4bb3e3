"""Training steps of small models, one for each kind of layer that the three examples lack."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from .one_step import Batch, Step, adamw, classify

CLASSES = 5
ROWS, LENGTH, FEATURES, HIDDEN = 8, 12, 16, 24
WORDS = 40


class Recurrent(nn.Module):
    """Two bidirectional layers: (N, L, FEATURES) -> logits (N, CLASSES)."""

    def __init__(self, kind: type[nn.LSTM] | type[nn.GRU]) -> None:
        super().__init__()
        self.recurrent = kind(FEATURES, HIDDEN, 2, batch_first=True, bidirectional=True)
        self.classifier = nn.Linear(2 * HIDDEN, CLASSES)

    def forward(self, sequence: torch.Tensor) -> torch.Tensor:
        states, _ = self.recurrent(sequence)
        return self.classifier(states.mean(dim=1))


class Autoencoder(nn.Module):
    """Two poolings and a transposed convolution: (N, 3, 16, 16) -> the same."""

    def __init__(self) -> None:
        super().__init__()
        # A normalization removes the mean, and with it the effect of a bias and its gradient.
        self.down = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.up = nn.ConvTranspose2d(8, 6, 3, stride=2, padding=1, output_padding=1)
        self.groups = nn.GroupNorm(2, 6)
        self.last = nn.Conv2d(6, 3, 1)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = functional.max_pool2d(functional.relu(self.norm(self.down(images))), 2)
        x = functional.avg_pool2d(x, 2)
        x = functional.silu(self.groups(self.up(x)))
        x = functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        return torch.sigmoid(self.last(x))


class BagClassifier(nn.Module):
    """Mean of the embeddings of each bag: indices (T,), offsets (N,) -> logits (N, CLASSES)."""

    def __init__(self) -> None:
        super().__init__()
        self.bags = nn.EmbeddingBag(WORDS, HIDDEN, mode="mean")
        self.classifier = nn.Linear(HIDDEN, CLASSES)

    def forward(self, words: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        return self.classifier(functional.elu(self.bags(words, offsets)))


class Tagger(nn.Module):
    """torch's own encoder layers: tokens (N, L), padding (N, L) -> logits (N, L, CLASSES)."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, HIDDEN, padding_idx=0)
        layer = nn.TransformerEncoderLayer(
            HIDDEN, nhead=4, dim_feedforward=64, dropout=0.0, activation="gelu", batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.attention = nn.MultiheadAttention(HIDDEN, 3, batch_first=True)
        self.classifier = nn.Linear(HIDDEN, CLASSES)

    def forward(self, words: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        states = self.encoder(self.embedding(words), src_key_padding_mask=padding)
        # Requesting the attention weights uses another code path than the encoder's attention.
        seen, weights = self.attention(states, states, states, key_padding_mask=padding)
        return self.classifier(seen) + weights.mean()


def multilayer_perceptron() -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(FEATURES, 32, bias=False),
        nn.BatchNorm1d(32),
        nn.ReLU(),
        nn.Linear(32, 32),
        nn.LayerNorm(32),
        nn.GELU(),
        nn.Linear(32, CLASSES),
    )


def _labels(*shape: int) -> torch.Tensor:
    return torch.randint(CLASSES, shape)


def mlp() -> Step:
    torch.manual_seed(0)
    batch = {"inputs": torch.randn(4 * ROWS, FEATURES), "labels": _labels(4 * ROWS)}
    return Step(multilayer_perceptron(), batch, classify, 4 * ROWS)


def lstm() -> Step:
    torch.manual_seed(0)
    batch = {"inputs": torch.randn(ROWS, LENGTH, FEATURES), "labels": _labels(ROWS)}
    return Step(Recurrent(nn.LSTM), batch, classify, ROWS * LENGTH, clip=0.1)


def gru() -> Step:
    torch.manual_seed(0)
    batch = {"inputs": torch.randn(ROWS, LENGTH, FEATURES), "labels": _labels(ROWS)}
    return Step(Recurrent(nn.GRU), batch, classify, ROWS * LENGTH)


def autoencoder() -> Step:
    torch.manual_seed(0)
    batch = {"inputs": torch.rand(ROWS, 3, 16, 16)}
    return Step(Autoencoder(), batch, _reconstruct, ROWS * 16 * 16)


def _reconstruct(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    images = model(batch["inputs"])
    return functional.mse_loss(images.to(batch["inputs"].dtype), batch["inputs"]), images


def bags() -> Step:
    torch.manual_seed(0)
    # The third bag is empty.
    batch = {
        "words": torch.randint(WORDS, (64,)),
        "offsets": torch.tensor([0, 5, 20, 20, 33, 40, 41, 60]),
        "labels": _labels(ROWS),
    }
    return Step(BagClassifier(), batch, _classify_bags, 64)


def _classify_bags(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    logits = model(batch["words"], batch["offsets"])
    return functional.cross_entropy(logits, batch["labels"], label_smoothing=0.1), logits


def tagger() -> Step:
    torch.manual_seed(0)
    words = torch.randint(1, WORDS, (ROWS, LENGTH))
    lengths = torch.randint(3, LENGTH + 1, (ROWS, 1))
    words = torch.where(torch.arange(LENGTH) < lengths, words, 0)
    batch = {"words": words, "labels": torch.where(words > 0, _labels(ROWS, LENGTH), -100)}
    return Step(Tagger(), batch, _tag, ROWS * LENGTH, adamw)


def _tag(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    logits = model(batch["words"], batch["words"] == 0)
    return functional.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten()), logits


def checkpointed() -> Step:
    """Return the step of :func:`mlp` with layers that are recomputed in the backward pass."""
    return mlp().changed(forward=_classify_again)


def _classify_again(model: Any, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    logits = batch["inputs"]
    for layers in (model[:3], model[3:]):
        logits = checkpoint(layers, logits, use_reentrant=False)
    return functional.cross_entropy(logits, batch["labels"]), logits


SMALL_STEPS = {
    step.__name__: step for step in (mlp, lstm, gru, autoencoder, bags, tagger, checkpointed)
}

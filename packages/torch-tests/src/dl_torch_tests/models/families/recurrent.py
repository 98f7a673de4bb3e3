"""Recurrent and convolutional sequence models, and torch's own transformer."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from ..one_step import Batch, classify
from ..small_steps import CLASSES, FEATURES, HIDDEN, LENGTH, ROWS, Recurrent
from .batches import FIRST_WORD, WORDS
from .family import Family


def sequences() -> Batch:
    """Return sequences with a class each."""
    return {
        "inputs": torch.randn(ROWS, LENGTH, FEATURES),
        "labels": torch.randint(CLASSES, (ROWS,)),
    }


class Cells(nn.Module):
    """Cell that is called for each step: (rows, length, FEATURES) -> logits (rows, CLASSES)."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.RNNCell(FEATURES, HIDDEN)
        self.classifier = nn.Linear(HIDDEN, CLASSES)

    def forward(self, sequence: torch.Tensor) -> torch.Tensor:
        state = sequence.new_zeros(len(sequence), HIDDEN)
        for step in sequence.unbind(1):
            state = self.cell(step, state)
        return self.classifier(state)


class Causal(nn.Conv1d):
    """Causal convolution."""

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        reach = (self.kernel_size[0] - 1) * self.dilation[0]
        return super().forward(functional.pad(values, (reach, 0)))


class WaveNet(nn.Module):
    """Gated causal convolutions: (rows, length, FEATURES) -> logits (rows, CLASSES)."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(FEATURES, HIDDEN, 1)
        dilations = (1, 2, 4)
        self.filters = nn.ModuleList(Causal(HIDDEN, HIDDEN, 2, dilation=d) for d in dilations)
        self.gates = nn.ModuleList(Causal(HIDDEN, HIDDEN, 2, dilation=d) for d in dilations)
        self.residuals = nn.ModuleList(nn.Conv1d(HIDDEN, HIDDEN, 1) for _ in dilations)
        self.classifier = nn.Linear(HIDDEN, CLASSES)

    def forward(self, sequence: torch.Tensor) -> torch.Tensor:
        x = self.first(sequence.transpose(1, 2))
        skipped = torch.zeros_like(x)
        for kept, gate, residual in zip(self.filters, self.gates, self.residuals, strict=True):
            y = residual(torch.tanh(kept(x)) * torch.sigmoid(gate(x)))
            x, skipped = x + y, skipped + y
        return self.classifier(skipped.mean(dim=2))


class Writer(nn.Module):
    """LSTM with additive attention to its past: tokens (rows, length) -> logits of the next."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, HIDDEN)
        self.reader = nn.LSTM(HIDDEN, HIDDEN, batch_first=True)
        self.writer = nn.LSTM(HIDDEN, HIDDEN, batch_first=True)
        self.query, self.key = (nn.Linear(HIDDEN, HIDDEN) for _ in range(2))
        self.score = nn.Linear(HIDDEN, 1, bias=False)
        self.words = nn.Linear(2 * HIDDEN, WORDS)

    def forward(self, read: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
        seen, state = self.reader(self.embedding(read))
        states, _ = self.writer(self.embedding(written), state)
        scores = self.score(torch.tanh(self.query(states)[:, :, None] + self.key(seen)[:, None]))
        looked = scores.squeeze(-1).softmax(dim=-1) @ seen
        return self.words(torch.cat([states, looked], dim=-1))


class Translator(nn.Module):
    """torch's own transformer: tokens (rows, length) -> logits of the next tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 32)
        self.transformer = nn.Transformer(
            32, 4, 1, 1, dim_feedforward=48, dropout=0.0, activation="gelu", batch_first=True
        )
        self.words = nn.Linear(32, WORDS)

    def forward(self, read: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
        ahead = torch.ones(written.shape[1], written.shape[1], device=written.device).triu(1) > 0
        states = self.transformer(self.embedding(read), self.embedding(written), tgt_mask=ahead)
        return self.words(states)


def texts() -> Batch:
    """Return source and target tokens."""
    read, written = (torch.randint(FIRST_WORD, WORDS, (ROWS, LENGTH)) for _ in range(2))
    return {"read": read, "written": written}


def write(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    logits = model(batch["read"], batch["written"][:, :-1])
    wanted = batch["written"][:, 1:]
    return functional.cross_entropy(logits.flatten(0, 1), wanted.flatten()), logits


def sequence_classifier(name: str, make: Callable[[], nn.Module]) -> Family:
    return Family(name, make, sequences, classify, rate=5e-3)


FAMILIES = [
    sequence_classifier("LSTM", lambda: Recurrent(nn.LSTM)),
    sequence_classifier("GRU", lambda: Recurrent(nn.GRU)),
    sequence_classifier("Elman network", Cells),
    sequence_classifier("WaveNet", WaveNet),
    Family("LSTM with attention", Writer, texts, write, rate=5e-3),
    Family("torch.nn.Transformer", Translator, texts, write),
]

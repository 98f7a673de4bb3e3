"""The steps of the three example models, with the examples' own models and data."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn

from dl_torch_tests.models.one_step import Batch, Step, adamw, classify, sgd

# The examples are programs that import each other by name.
sys.path.append(str(Path(__file__).parents[2] / "examples"))

import train_cnn
import train_decoder
import train_encoder
from common import standard_library_text, windows


def predict_tokens(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    found = model(**batch)
    return found.loss, found.logits


def cnn(width: int = 8, rows: int = 24) -> Step:
    """Return a CNN's step, so small that no ReLU is near its threshold; see ``decisions.py``.

    Of the first hundred seeds, this one has the largest distance relative to its errors.
    """
    torch.manual_seed(60)
    model = train_cnn.ResNet18(width, dropout=0.0)
    train_set, _, _ = train_cnn.load_data()
    inputs, labels = train_set[:rows]
    batch = {"inputs": inputs, "labels": labels}
    return Step(model, batch, classify, rows * inputs[0].numel(), sgd)


def encoder(rows: int = 2, length: int = 64, width: int = 256) -> Step:
    torch.manual_seed(0)
    model = train_encoder.build_model(length, 0.0, width)
    tokens = next(windows(standard_library_text(), (rows, length), seed=0))
    inputs, labels = train_encoder.mask_bytes(tokens, torch.Generator().manual_seed(0))
    batch = {"input_ids": inputs, "labels": labels}
    return Step(model, batch, predict_tokens, rows * length, adamw, clip=1.0)


def decoder(rows: int = 2, length: int = 64, width: int = 256) -> Step:
    torch.manual_seed(0)
    model = train_decoder.build_model(length, 0.0, width)
    tokens = next(windows(standard_library_text(), (rows, length), seed=0))
    batch = {"input_ids": tokens, "labels": tokens}
    return Step(model, batch, predict_tokens, rows * length, adamw, clip=1.0)


STEPS = {"cnn": cnn, "encoder": encoder, "decoder": decoder}
FULL_STEPS = {"encoder": (16, 128), "decoder": (16, 128)}
"""Rows and length of the examples' batches."""

BFLOAT16_STEPS = {"cnn": (), "encoder": (2, 32), "decoder": (2, 32)}
"""A smaller batch, because bfloat16 without oneDNN is slow on the CPU."""

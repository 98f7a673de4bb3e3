"""Small batches of tokens, images and audio, with labels."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..one_step import Batch

ROWS, LENGTH, WORDS, CLASSES = 2, 12, 64, 5

MakeBatch = Callable[[], Batch]

# Smaller token ids are special in some models: padding, beginning, end, mask.
MASK, FIRST_WORD = 4, 5


def words(rows: int = ROWS, length: int = LENGTH) -> torch.Tensor:
    return torch.randint(FIRST_WORD, WORDS, (rows, length))


def text() -> Batch:
    """Return tokens for next-token prediction."""
    tokens = words()
    return {"input_ids": tokens, "labels": tokens}


def masked_text() -> Batch:
    """Return tokens of which every third is masked; the second row is shorter and padded."""
    tokens = words()
    seen = torch.ones_like(tokens)
    seen[1, -3:] = 0
    hidden = (torch.arange(LENGTH) % 3 == 1) & (seen > 0)
    labels = torch.where(hidden, tokens, -100)
    return {
        "input_ids": torch.where(hidden, MASK, tokens),
        "attention_mask": seen,
        "labels": labels,
    }


def translation() -> Batch:
    """Return tokens of a source and a target text."""
    return {"input_ids": words(), "labels": words(length=8)}


def images(size: int = 32, rows: int = ROWS, channels: int = 3) -> torch.Tensor:
    return torch.randn(rows, channels, size, size)


def labelled_images(size: int = 32, rows: int = ROWS) -> MakeBatch:
    """Return images with a class each."""
    return lambda: {
        "pixel_values": images(size, rows),
        "labels": torch.randint(CLASSES, (rows,)),
    }

"""Small batches: words, images, sounds, and what is to be said of them."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..one_step import Batch

ROWS, LENGTH, WORDS, CLASSES = 2, 12, 64, 5

MakeBatch = Callable[[], Batch]

# Numbers below this one have a meaning to some models: padding, beginning, end, a mask.
MASK, FIRST_WORD = 4, 5


def words(rows: int = ROWS, length: int = LENGTH) -> torch.Tensor:
    return torch.randint(FIRST_WORD, WORDS, (rows, length))


def text() -> Batch:
    """Words whose next one is to be predicted."""
    tokens = words()
    return {"input_ids": tokens, "labels": tokens}


def masked_text() -> Batch:
    """Every third word is hidden and to be found; the second row is shorter, with padding."""
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
    """Words in, other words out."""
    return {"input_ids": words(), "labels": words(length=8)}


def images(size: int = 32, rows: int = ROWS, channels: int = 3) -> torch.Tensor:
    return torch.randn(rows, channels, size, size)


def labelled_images(size: int = 32, rows: int = ROWS) -> MakeBatch:
    """Images, each of a class."""
    return lambda: {
        "pixel_values": images(size, rows),
        "labels": torch.randint(CLASSES, (rows,)),
    }

"""Video models: classification, and reconstruction of masked patches."""

from __future__ import annotations

import torch

from ..one_step import Batch
from .batches import CLASSES, ROWS
from .family import Family
from .pretrained import by_its_own_loss, pretrained
from .vision import PATCHES

FRAMES = 4
# Number of 4 x 4 patches in all pairs of frames.
PLACES = 16 * FRAMES // 2


def labelled_videos() -> Batch:
    """Return videos with a class each."""
    return {
        "pixel_values": torch.randn(ROWS, FRAMES, 3, 32, 32),
        "labels": torch.randint(CLASSES, (ROWS,)),
    }


def hidden_videos() -> Batch:
    """Return videos and a mask of hidden patches, with the same number in each video."""
    hidden = torch.stack([torch.randperm(PLACES) < PLACES // 2 for _ in range(ROWS)])
    return {"pixel_values": torch.rand(ROWS, FRAMES, 3, 32, 32), "bool_masked_pos": hidden}


TUBES = {**PATCHES, "num_frames": FRAMES}

FAMILIES = [
    Family(
        "VideoMAE",
        pretrained(
            "VideoMAEForPreTraining",
            **TUBES,
            decoder_hidden_size=16,
            decoder_num_hidden_layers=1,
            decoder_num_attention_heads=2,
            decoder_intermediate_size=32,
        ),
        hidden_videos,
        by_its_own_loss,
    ),
    Family(
        "VideoMAE classification",
        pretrained("VideoMAEForVideoClassification", **TUBES, num_labels=CLASSES),
        labelled_videos,
        by_its_own_loss,
    ),
    Family(
        "TimeSformer",
        pretrained("TimesformerForVideoClassification", **TUBES, num_labels=CLASSES),
        labelled_videos,
        by_its_own_loss,
    ),
    Family(
        "ViViT",
        pretrained(
            "VivitForVideoClassification",
            **{**TUBES, "image_size": 32, "tubelet_size": [2, 8, 8]},
            num_labels=CLASSES,
        ),
        labelled_videos,
        by_its_own_loss,
    ),
]

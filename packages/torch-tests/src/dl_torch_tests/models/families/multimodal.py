"""Models of text with images or audio."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ..one_step import Batch
from .batches import CLASSES, ROWS, images, words
from .decoders import GATED, SIZE
from .encoders import ENCODER
from .family import Family
from .pretrained import by_its_own_loss, pretrained
from .vision import PATCHES

LENGTH, IMAGE = 12, 3
TEXT = {**ENCODER, "projection_dim": 16}
IMAGES = {**PATCHES, "projection_dim": 16}
EYE = {**PATCHES, "image_size": 16}


def pairs() -> Batch:
    """Return a text for each image."""
    tokens = words(rows=4)
    # The token from which CLIP takes the features of a text.
    tokens[:, -1] = 2
    return {"input_ids": tokens, "pixel_values": images(rows=4)}


def by_contrast(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the contrastive loss between texts and images."""
    found = model(**batch, return_loss=True)
    return found.loss, found.logits_per_text


def contrast(name: str, kind: str, **settings: Any) -> Family:
    make = pretrained(
        f"{kind}Model", text_config=TEXT, vision_config=IMAGES, projection_dim=16, **settings
    )
    return Family(name, make, pairs, by_contrast)


def illustrated(places: int, size: int = 16) -> Batch:
    """Return texts that begin with an image, given by this number of image tokens."""
    tokens = words(length=LENGTH)
    labels = tokens.clone()
    tokens[:, 1 : 1 + places], labels[:, 1 : 1 + places] = IMAGE, -100
    return {"input_ids": tokens, "labels": labels, "pixel_values": images(size)}


def patched(per_image: int = 16, numbers: int = 3 * 2 * 4 * 4) -> Batch:
    """Return images as Qwen2-VL takes them: patches, with their number for each image."""
    batch = illustrated(per_image // 4)
    batch["pixel_values"] = torch.randn(ROWS * per_image, numbers)
    batch["mm_token_type_ids"] = (batch["input_ids"] == IMAGE).int()
    return batch


def by_patches(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Return images with one frame of 4 x 4 patches."""
    grid = torch.tensor([[1, 4, 4]] * ROWS, device=batch["input_ids"].device)
    found = model(**batch, image_grid_thw=grid)
    return found.loss, found.logits


def questions() -> Batch:
    """Return questions about images, with an answer from a set of classes."""
    return {
        "input_ids": words(),
        "pixel_values": images(),
        "labels": torch.rand(ROWS, CLASSES),
    }


def captions() -> Batch:
    """Return images with captions."""
    tokens = words()
    return {"input_ids": tokens, "labels": tokens, "pixel_values": images()}


ROTARY = {
    **GATED,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 2]},
}
# The vision encoder of the Qwen families.
TOWER = {
    "depth": 2,
    "hidden_size": 32,
    "out_hidden_size": 32,
    "num_heads": 4,
    "patch_size": 4,
    "intermediate_size": 48,
}

FAMILIES = [
    contrast("CLIP", "CLIP"),
    contrast("SigLIP", "Siglip"),
    contrast("AltCLIP", "AltCLIP"),
    contrast("Chinese-CLIP", "ChineseCLIP"),
    contrast("BLIP", "Blip", image_text_hidden_size=16),
    Family(
        "LLaVA",
        pretrained(
            "LlavaForConditionalGeneration",
            text_config={"model_type": "llama", **GATED},
            vision_config={"model_type": "clip_vision_model", **EYE},
            image_token_index=IMAGE,
            image_token_id=IMAGE,
            image_seq_length=4,
            vision_feature_layer=-2,
        ),
        lambda: illustrated(4),
        by_its_own_loss,
    ),
    Family(
        "InternVL",
        pretrained(
            "InternVLForConditionalGeneration",
            text_config={"model_type": "qwen2", **GATED},
            vision_config={**EYE, "patch_size": 4},
            image_token_id=IMAGE,
            image_seq_length=4,
        ),
        lambda: illustrated(4),
        by_its_own_loss,
    ),
    Family(
        "PaliGemma",
        pretrained(
            "PaliGemmaForConditionalGeneration",
            text_config={"model_type": "gemma", **GATED, "head_dim": 8},
            vision_config={"model_type": "siglip_vision_model", **EYE},
            image_token_id=IMAGE,
            image_token_index=IMAGE,
            projection_dim=32,
        ),
        lambda: illustrated(4) | {"token_type_ids": torch.ones(ROWS, LENGTH, dtype=torch.long)},
        by_its_own_loss,
    ),
    Family(
        "Idefics 3",
        pretrained(
            "Idefics3ForConditionalGeneration",
            text_config={"model_type": "llama", **GATED},
            vision_config={**EYE, "patch_size": 4},
            image_token_id=IMAGE,
            scale_factor=2,
        ),
        lambda: illustrated(4) | {"pixel_values": images(16).unsqueeze(1)},
        by_its_own_loss,
    ),
    Family(
        "Qwen2-VL",
        pretrained(
            "Qwen2VLForConditionalGeneration",
            text_config=ROTARY,
            vision_config={
                "depth": 2,
                "embed_dim": 32,
                "hidden_size": 32,
                "num_heads": 4,
                "patch_size": 4,
                "mlp_ratio": 2,
            },
            image_token_id=IMAGE,
            vision_start_token_id=2,
        ),
        patched,
        by_patches,
    ),
    Family(
        "Qwen2.5-VL",
        pretrained(
            "Qwen2_5_VLForConditionalGeneration",
            text_config=ROTARY,
            vision_config={
                **TOWER,
                "window_size": 16,
                "fullatt_block_indexes": [1],
            },
            image_token_id=IMAGE,
            vision_start_token_id=2,
        ),
        patched,
        by_patches,
    ),
    Family(
        "Qwen3-VL",
        pretrained(
            "Qwen3VLForConditionalGeneration",
            text_config={**ROTARY, "head_dim": 8},
            vision_config={
                **TOWER,
                "num_position_embeddings": 16,
                "deepstack_visual_indexes": [0],
            },
            image_token_id=IMAGE,
            vision_start_token_id=2,
        ),
        patched,
        by_patches,
    ),
    Family(
        "ViLT",
        pretrained(
            "ViltForQuestionAnswering",
            **ENCODER,
            image_size=32,
            patch_size=8,
            max_image_length=-1,
            num_labels=CLASSES,
        ),
        questions,
        by_its_own_loss,
    ),
    Family(
        "GIT",
        pretrained("GitForCausalLM", **SIZE, intermediate_size=48, vision_config=PATCHES),
        captions,
        by_its_own_loss,
    ),
]

"""Models with dense outputs for images: boxes, masks and depths."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ..one_step import Batch
from .batches import CLASSES, ROWS, images
from .family import Family
from .pretrained import by_its_own_loss, first_output, pretrained
from .vision import PATCHES

RESNET = {
    "model_type": "resnet",
    "embedding_size": 8,
    "hidden_sizes": [8, 12, 16, 16],
    "depths": [1, 1, 1, 1],
    "layer_type": "basic",
}
SWIN = {
    "model_type": "swin",
    "image_size": 64,
    "embed_dim": 8,
    "depths": [1, 1, 1, 1],
    "num_heads": [1, 2, 2, 4],
    "window_size": 2,
    "out_features": ["stage1", "stage2", "stage3", "stage4"],
}
DETR = {
    "backbone_config": {**RESNET, "out_features": ["stage4"]},
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "num_queries": 6,
    "num_labels": CLASSES,
}


def boxes(size: int = 64) -> Batch:
    """Return two boxes per image: center and size relative to the image."""
    return {
        "pixel_values": images(size),
        "classes": torch.randint(CLASSES, (ROWS, 2)),
        "boxes": 0.3 + 0.3 * torch.rand(ROWS, 2, 4),
    }


def by_boxes(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss of predicted boxes, each matched with a target box."""
    labels = [
        {"class_labels": classes, "boxes": corners}
        for classes, corners in zip(batch["classes"], batch["boxes"], strict=True)
    ]
    found = model(pixel_values=batch["pixel_values"], labels=labels)
    return found.loss, torch.cat([found.logits, found.pred_boxes], dim=-1)


def detector(name: str, kind: str, size: dict[str, Any] = DETR, **settings: Any) -> Family:
    return Family(
        name, pretrained(f"{kind}ForObjectDetection", **(size | settings)), boxes, by_boxes
    )


def segments(size: int = 64) -> Batch:
    """Semantic segmentation: a class for each pixel."""
    return {"pixel_values": images(size), "labels": torch.randint(CLASSES, (ROWS, size, size))}


def segmenter(name: str, kind: str, **settings: Any) -> Family:
    make = pretrained(f"{kind}ForSemanticSegmentation", num_labels=CLASSES, **settings)
    return Family(name, make, segments, by_its_own_loss, rate=5e-3)


def depths(size: int, to: int | None = None) -> Batch:
    """Depth estimation: a depth for each pixel."""
    return {"pixel_values": images(size), "target": torch.rand(ROWS, to or size, to or size)}


def by_depth(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    depth = first_output(model(pixel_values=batch["pixel_values"]))
    return nn.functional.l1_loss(depth, batch["target"].to(depth.dtype)), depth


def masks(size: int = 64) -> Batch:
    """Instance segmentation: a mask and a class for each query."""
    return {
        "pixel_values": images(size),
        "masks": torch.randint(2, (ROWS, 6, size // 4, size // 4)).float(),
        "classes": torch.randint(CLASSES, (ROWS, 6)),
    }


def by_masks(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss of predicted masks and classes, one pair per query.

    The models' own losses compare masks at random points, which differ by device.
    """
    found = model(pixel_values=batch["pixel_values"])
    drawn = found.masks_queries_logits
    loss = nn.functional.binary_cross_entropy_with_logits(drawn, batch["masks"].to(drawn.dtype))
    classes = found.class_queries_logits.flatten(0, 1)
    return loss + nn.functional.cross_entropy(classes, batch["classes"].flatten()), drawn


DPT = {
    **PATCHES,
    "num_hidden_layers": 4,
    "backbone_out_indices": [0, 1, 2, 3],
    "neck_hidden_sizes": [8, 8, 16, 16],
    "fusion_hidden_size": 16,
}

FAMILIES = [
    detector("DETR", "Detr"),
    detector("Conditional DETR", "ConditionalDetr"),
    detector(
        "Deformable DETR",
        "DeformableDetr",
        backbone_config={**RESNET, "out_features": ["stage2", "stage3", "stage4"]},
        num_feature_levels=3,
        decoder_layers=2,
        encoder_n_points=2,
        decoder_n_points=2,
    ),
    detector(
        "RT-DETR",
        "RTDetr",
        {"num_labels": CLASSES},
        backbone_config={
            **RESNET,
            "model_type": "rt_detr_resnet",
            "out_features": ["stage2", "stage3", "stage4"],
        },
        encoder_in_channels=[12, 16, 16],
        encoder_hidden_dim=16,
        encoder_ffn_dim=32,
        encoder_attention_heads=2,
        d_model=16,
        num_queries=6,
        decoder_in_channels=[16, 16, 16],
        decoder_ffn_dim=32,
        decoder_layers=1,
        decoder_attention_heads=2,
        decoder_n_points=2,
        num_denoising=0,
        hidden_expansion=0.5,
    ),
    detector(
        "YOLOS",
        "Yolos",
        {
            **PATCHES,
            "image_size": [64, 64],
            "patch_size": 16,
            "num_labels": CLASSES,
            "num_detection_tokens": 6,
        },
    ),
    segmenter(
        "SegFormer",
        "Segformer",
        num_encoder_blocks=2,
        depths=[1, 1],
        sr_ratios=[2, 1],
        hidden_sizes=[8, 16],
        patch_sizes=[7, 3],
        strides=[4, 2],
        num_attention_heads=[1, 2],
        mlp_ratios=[2, 2],
        decoder_hidden_size=16,
    ),
    segmenter(
        "BEiT segmentation",
        "Beit",
        **{**PATCHES, "num_hidden_layers": 4, "image_size": 64},
        out_indices=[1, 2, 3, 4],
        use_absolute_position_embeddings=True,
    ),
    segmenter(
        "UPerNet",
        "UperNet",
        backbone_config={
            "model_type": "convnext",
            "hidden_sizes": [8, 8, 16, 16],
            "depths": [1, 1, 1, 1],
            "out_features": ["stage1", "stage2", "stage3", "stage4"],
        },
        hidden_size=16,
        pool_scales=[1, 2],
        auxiliary_in_channels=16,
        auxiliary_channels=8,
    ),
    Family(
        "Mask2Former",
        pretrained(
            "Mask2FormerForUniversalSegmentation",
            backbone_config=SWIN,
            feature_size=32,
            mask_feature_size=32,
            hidden_dim=32,
            encoder_feedforward_dim=32,
            dim_feedforward=32,
            encoder_layers=1,
            decoder_layers=2,
            num_attention_heads=2,
            num_queries=6,
            num_labels=CLASSES - 1,
        ),
        masks,
        by_masks,
    ),
    Family(
        "MaskFormer",
        pretrained(
            "MaskFormerForInstanceSegmentation",
            backbone_config=SWIN,
            fpn_feature_size=32,
            mask_feature_size=32,
            decoder_config={
                "model_type": "detr",
                "d_model": 32,
                "decoder_layers": 1,
                "decoder_attention_heads": 2,
                "decoder_ffn_dim": 32,
                "num_queries": 6,
                "encoder_layers": 1,
                "encoder_attention_heads": 2,
                "encoder_ffn_dim": 32,
            },
            num_labels=CLASSES - 1,
        ),
        masks,
        by_masks,
    ),
    Family("DPT", pretrained("DPTForDepthEstimation", **DPT), lambda: depths(32, 64), by_depth),
    Family(
        "GLPN",
        pretrained(
            "GLPNForDepthEstimation",
            num_encoder_blocks=4,
            depths=[1, 1, 1, 1],
            sr_ratios=[2, 1, 1, 1],
            hidden_sizes=[8, 8, 16, 16],
            num_attention_heads=[1, 1, 2, 2],
            mlp_ratios=[2, 2, 2, 2],
            decoder_hidden_size=8,
        ),
        lambda: depths(64),
        by_depth,
    ),
    Family(
        "Depth Anything",
        pretrained(
            "DepthAnythingForDepthEstimation",
            backbone_config={
                "model_type": "dinov2",
                **PATCHES,
                "num_hidden_layers": 4,
                "out_indices": [1, 2, 3, 4],
                "reshape_hidden_states": False,
                "apply_layernorm": True,
            },
            reassemble_hidden_size=32,
            patch_size=8,
            neck_hidden_sizes=[8, 8, 16, 16],
            fusion_hidden_size=16,
            head_hidden_size=8,
        ),
        lambda: depths(32),
        by_depth,
    ),
]

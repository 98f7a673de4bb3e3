"""Image classifiers."""

from __future__ import annotations

from typing import Any

from .batches import CLASSES, ROWS, labelled_images
from .family import Family
from .pretrained import by_its_own_loss, pretrained

PATCHES = {
    "image_size": 32,
    "patch_size": 8,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
}
STAGES = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 2]}


def classifier(
    name: str,
    kind: str,
    patches: dict[str, Any] | None = None,
    rows: int = ROWS,
    size: int = 32,
    **settings: Any,
) -> Family:
    """Return the family of a classifier for 32 x 32 images, from transformers."""
    make = pretrained(
        f"{kind}ForImageClassification", num_labels=CLASSES, **(patches or {}), **settings
    )
    return Family(name, make, labelled_images(size, rows), by_its_own_loss)


FAMILIES = [
    classifier("ViT", "ViT", PATCHES),
    classifier("DeiT", "DeiT", PATCHES),
    classifier("BEiT", "Beit", PATCHES, use_relative_position_bias=True),
    classifier("Data2Vec vision", "Data2VecVision", PATCHES),
    classifier("DINOv2", "Dinov2", PATCHES, mlp_ratio=2),
    classifier("ViT-MSN", "ViTMSN", PATCHES),
    classifier("I-JEPA", "IJepa", PATCHES),
    classifier(
        "Swin",
        "Swin",
        image_size=32,
        patch_size=4,
        embed_dim=8,
        depths=[2, 2],
        num_heads=[2, 4],
        window_size=4,
    ),
    classifier(
        "Swin v2",
        "Swinv2",
        image_size=32,
        patch_size=4,
        embed_dim=8,
        depths=[2, 2],
        num_heads=[2, 4],
        window_size=4,
    ),
    classifier(
        "Hiera",
        "Hiera",
        image_size=[32, 32],
        embed_dim=8,
        patch_size=[7, 7],
        patch_stride=[4, 4],
        patch_padding=[3, 3],
        depths=[1, 1],
        num_heads=[1, 2],
        query_stride=[2, 2],
        masked_unit_size=[4, 4],
        masked_unit_attention=[True, False],
        num_query_pool=1,
        embed_dim_multiplier=2.0,
        mlp_ratio=2.0,
    ),
    classifier("ConvNeXt", "ConvNext", hidden_sizes=[8, 16], depths=[1, 1], num_stages=2),
    classifier("ConvNeXt V2", "ConvNextV2", hidden_sizes=[8, 16], depths=[1, 1], num_stages=2),
    classifier("ResNet", "ResNet", **STAGES),
    classifier("RegNet", "RegNet", groups_width=4, **STAGES),
    classifier("BiT", "Bit", num_groups=2, **STAGES),
    classifier("MobileNet v1", "MobileNetV1", depth_multiplier=0.25, rows=8, size=64),
    classifier("MobileNet v2", "MobileNetV2", depth_multiplier=0.25, output_stride=8, rows=8),
    classifier(
        "MobileViT",
        "MobileViT",
        rows=4,
        size=64,
        image_size=64,
        hidden_sizes=[16, 16, 16],
        neck_hidden_sizes=[8, 8, 16, 16, 16, 16, 16],
        num_attention_heads=2,
        patch_size=2,
    ),
    classifier(
        "EfficientNet",
        "EfficientNet",
        image_size=32,
        width_coefficient=0.25,
        depth_coefficient=0.2,
        hidden_dim=320,
        in_channels=[32, 16],
        out_channels=[16, 24],
        kernel_sizes=[3, 5],
        strides=[1, 2],
        num_block_repeats=[1, 2],
        expand_ratios=[1, 6],
    ),
    classifier(
        "PVT",
        "Pvt",
        image_size=32,
        hidden_sizes=[8, 16],
        depths=[1, 1],
        num_attention_heads=[1, 2],
        sequence_reduction_ratios=[2, 1],
        patch_sizes=[4, 2],
        strides=[4, 2],
        mlp_ratios=[2, 2],
        num_encoder_blocks=2,
    ),
    classifier(
        "PVT v2",
        "PvtV2",
        image_size=32,
        hidden_sizes=[8, 16],
        depths=[1, 1],
        num_attention_heads=[1, 2],
        sr_ratios=[2, 1],
        patch_sizes=[7, 3],
        strides=[4, 2],
        mlp_ratios=[2, 2],
        num_encoder_blocks=2,
    ),
    classifier(
        "PoolFormer",
        "PoolFormer",
        hidden_sizes=[8, 16],
        depths=[1, 1],
        patch_sizes=[7, 3],
        strides=[4, 2],
        padding=[2, 1],
        num_encoder_blocks=2,
    ),
    classifier(
        "FocalNet",
        "FocalNet",
        image_size=32,
        patch_size=4,
        embed_dim=8,
        hidden_sizes=[8, 16],
        depths=[1, 1],
        focal_levels=[2, 2],
        focal_windows=[3, 3],
    ),
    classifier(
        "LeViT",
        "Levit",
        image_size=64,
        rows=8,
        size=64,
        hidden_sizes=[16, 24, 32],
        num_attention_heads=[2, 3, 4],
        depths=[1, 1, 1],
        key_dim=[8, 8, 8],
        patch_size=16,
        mlp_ratio=[2, 2, 2],
        attention_ratio=[2, 2, 2],
    ),
]

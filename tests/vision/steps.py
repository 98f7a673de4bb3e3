"""Training steps of small torchvision models with random weights, without downloads."""

from __future__ import annotations

from unittest.mock import patch

import torch
import torchvision
from torch import nn
from torch.nn import functional
from torchvision.models.detection import MaskRCNN
from torchvision.models.detection.backbone_utils import resnet_fpn_backbone

from dl_torch_tests.models.one_step import Batch, Step, adamw

CLASSES = 5


def classify(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    logits = model(batch["inputs"])
    return functional.cross_entropy(logits, batch["labels"]), logits


def images(rows: int, size: int) -> Batch:
    return {"inputs": torch.randn(rows, 3, size, size), "labels": torch.randint(CLASSES, (rows,))}


def resnet18(rows: int = 4, size: int = 32) -> Step:
    torch.manual_seed(0)
    model = torchvision.models.resnet18(num_classes=CLASSES)
    return Step(model, images(rows, size), classify, rows * size * size)


def vision_transformer(rows: int = 4, size: int = 32) -> Step:
    torch.manual_seed(0)
    model = torchvision.models.VisionTransformer(
        image_size=size,
        patch_size=8,
        num_layers=2,
        num_heads=4,
        hidden_dim=32,
        mlp_dim=64,
        num_classes=CLASSES,
    )
    # This layer starts from zeros, which block the gradient.
    nn.init.normal_(model.heads.head.weight, std=0.1)
    return Step(model, images(rows, size), classify, rows * (size // 8) ** 2, adamw)


def mask_rcnn(rows: int = 2, size: int = 64) -> Step:
    """Return the step of Mask R-CNN: two images with two objects each, and the sum of five losses.

    All proposals are sampled, so that random numbers, which differ between devices, have no effect.
    """
    torch.manual_seed(0)
    backbone = resnet_fpn_backbone(backbone_name="resnet18", weights=None, trainable_layers=5)
    model = MaskRCNN(
        backbone,
        num_classes=CLASSES,
        min_size=size,
        max_size=size,
        rpn_batch_size_per_image=100_000,
        box_batch_size_per_image=100_000,
    )
    boxes = torch.tensor([[[4.0, 6.0, 30.0, 40.0], [24.0, 20.0, 60.0, 58.0]]]).repeat(rows, 1, 1)
    places = torch.arange(size)
    across = (places >= boxes[..., :1]) & (places < boxes[..., 2:3])
    down = (places >= boxes[..., 1:2]) & (places < boxes[..., 3:])
    batch = {
        "images": torch.rand(rows, 3, size, size),
        "boxes": boxes,
        "labels": torch.tensor([[1, 2], [3, 4]]),
        "masks": (across.unsqueeze(-2) & down.unsqueeze(-1)).to(torch.uint8),
    }
    return Step(model, batch, detect, rows * size * size)


def detect(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sum of the losses, and the losses."""
    targets = [
        {"boxes": boxes, "labels": labels, "masks": masks}
        for boxes, labels, masks in zip(
            batch["boxes"], batch["labels"], batch["masks"], strict=True
        )
    ]
    with patch.object(functional, "binary_cross_entropy_with_logits", cross_entropy):
        losses = model(list(batch["images"]), targets)
    each = torch.stack([losses[name] for name in sorted(losses)])
    return each.sum(), each


plain_cross_entropy = functional.binary_cross_entropy_with_logits


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the loss with targets in the logits' dtype: torchvision's targets are float32."""
    return plain_cross_entropy(logits, targets.to(logits.dtype))


STEPS = {"resnet18": resnet18, "vision_transformer": vision_transformer, "mask_rcnn": mask_rcnn}

"""torchvision's operators on dl are right, and count as fallbacks, as no vendor has them."""

from __future__ import annotations

import pytest
import torch
import torchvision

from .calls import Call

IMAGES, CHANNELS, SIZE = 2, 4, 12
KERNEL, FILTERS = 3, 5


def boxes(count: int, size: float) -> torch.Tensor:
    """Return boxes (count, 4): left, top, right, bottom, at least one unit wide and high."""
    generator = torch.Generator().manual_seed(0)
    corners = torch.rand(count, 2, generator=generator) * (size - 1)
    extents = 1 + torch.rand(count, 2, generator=generator) * (size / 2)
    return torch.cat([corners, corners + extents], dim=1)


def regions() -> torch.Tensor:
    """Return regions (8, 5): the index of the image, then a box."""
    images = torch.arange(8).remainder(IMAGES).unsqueeze(1)
    return torch.cat([images, boxes(8, SIZE)], dim=1)


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def pooled(name: str, channels: int, **options: object) -> Call:
    """Return the call of an operator that pools regions of feature maps to 2 x 2."""
    return Call(
        lambda features, rois: getattr(torchvision.ops, name)(features, rois, 2, **options),
        {"features": numbers(IMAGES, channels, SIZE, SIZE), "rois": regions()},
        ("features",),
        terms=SIZE * SIZE,
        operators=(f"torchvision::{name}", f"torchvision::_{name}_backward"),
    )


def deform_conv2d() -> Call:
    side = SIZE - KERNEL + 1
    return Call(
        lambda features, offsets, mask, weight, bias: torchvision.ops.deform_conv2d(
            features, offsets, weight, bias, mask=mask
        ),
        {
            "features": numbers(IMAGES, CHANNELS, SIZE, SIZE),
            "offsets": numbers(IMAGES, 2 * KERNEL * KERNEL, side, side),
            "mask": numbers(IMAGES, KERNEL * KERNEL, side, side).sigmoid(),
            "weight": numbers(FILTERS, CHANNELS, KERNEL, KERNEL),
            "bias": numbers(FILTERS),
        },
        ("features", "offsets", "mask", "weight", "bias"),
        terms=IMAGES * side * side,
        operators=("torchvision::deform_conv2d", "torchvision::_deform_conv2d_backward"),
    )


CALLS = {
    "roi_align": pooled("roi_align", CHANNELS, sampling_ratio=2, aligned=True),
    "roi_pool": pooled("roi_pool", CHANNELS),
    "ps_roi_align": pooled("ps_roi_align", CHANNELS, sampling_ratio=2),
    "ps_roi_pool": pooled("ps_roi_pool", CHANNELS),
    "deform_conv2d": deform_conv2d(),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_and_gradients_are_right(name: str, device: torch.device) -> None:
    call = CALLS[name]
    torch.dl.reset_fallback_stats()
    got = call.run(device)
    assert set(call.operators) <= torch.dl.fallback_stats().keys()
    assert call.problems(got, device) == []


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_element_is_noticed(name: str, device: torch.device) -> None:
    call = CALLS[name]
    for wrong in call.run(device):
        got = call.run(device)
        largest = got[wrong].flatten()[got[wrong].abs().argmax()]
        got[wrong].view(-1)[0].add_(largest * 1e-3)
        (problem,) = call.problems(got, device)
        assert problem.startswith(f"{wrong}: ")


def suppress_one_by_one(boxes: torch.Tensor, scores: torch.Tensor, threshold: float) -> list[int]:
    """Compute non-maximum suppression by its definition."""
    kept: list[int] = []
    for candidate in scores.argsort(descending=True).tolist():
        overlap = torchvision.ops.box_iou(boxes[candidate : candidate + 1], boxes[kept])
        if not (overlap > threshold).any():
            kept.append(candidate)
    return kept


@pytest.mark.parametrize("threshold", [0.1, 0.5])
def test_nms_keeps_the_best_of_those_that_overlap(threshold: float, device: torch.device) -> None:
    candidates = boxes(60, 30.0)
    scores = torch.rand(60, generator=torch.Generator().manual_seed(2))
    torch.dl.reset_fallback_stats()
    kept = torchvision.ops.nms(candidates.to(device), scores.to(device), threshold)
    assert kept.device.type == device.type and "torchvision::nms" in torch.dl.fallback_stats()
    want = suppress_one_by_one(candidates, scores, threshold)
    assert kept.tolist() == want and 1 < len(want) < 60


def test_nms_of_several_classes_keeps_them_apart(device: torch.device) -> None:
    candidates = boxes(60, 30.0)
    scores = torch.rand(60, generator=torch.Generator().manual_seed(2))
    classes = torch.arange(60).remainder(3)
    moved = (candidates.to(device), scores.to(device), classes.to(device))
    kept = torchvision.ops.batched_nms(*moved, 0.3)
    want = [
        int(number)
        for each in range(3)
        for number in (classes == each)
        .nonzero()
        .squeeze(1)[suppress_one_by_one(candidates[classes == each], scores[classes == each], 0.3)]
    ]
    assert sorted(kept.tolist()) == sorted(want)

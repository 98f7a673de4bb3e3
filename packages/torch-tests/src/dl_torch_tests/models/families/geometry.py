"""Models of points, graphs and boxes, which gather and scatter by indices in the data."""

from __future__ import annotations

import itertools

import torch
from torch import nn
from torch.nn import functional

from ..one_step import Batch, classify
from .batches import CLASSES
from .family import Family

ROWS, POINTS, NODES, EDGES, FEATURES = 4, 24, 20, 60, 12


class PointNet(nn.Module):
    """Max pooling of features over all points: (rows, 3, POINTS) -> logits (rows, CLASSES)."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = nn.Sequential(nn.Conv1d(3, 16, 1), nn.SiLU(), nn.Conv1d(16, 9, 1))
        self.points = nn.Sequential(
            nn.Conv1d(3, 16, 1, bias=False), nn.BatchNorm1d(16), nn.SiLU(), nn.Conv1d(16, 32, 1)
        )
        self.classifier = nn.Linear(32, CLASSES)

    def forward(self, cloud: torch.Tensor) -> torch.Tensor:
        turned = self.turn(cloud).amax(dim=2).view(-1, 3, 3) + torch.eye(3, device=cloud.device)
        return self.classifier(self.points(turned.to(cloud.dtype) @ cloud).amax(dim=2))


def clouds() -> Batch:
    return {"inputs": torch.randn(ROWS, 3, POINTS), "labels": torch.randint(CLASSES, (ROWS,))}


class GraphConvolution(nn.Module):
    """Mean of the neighbours of each node: nodes (NODES, FEATURES), edges (2, EDGES)."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(FEATURES, 16), nn.Linear(16, CLASSES)

    @staticmethod
    def gather(states: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        source, target = edges
        degrees = states.new_zeros(len(states)).index_add(0, target, states.new_ones(len(target)))
        scales = (1 + degrees).rsqrt()
        sent = states[source] * (scales[source] * scales[target])[:, None]
        places = target[:, None].expand_as(sent)
        return torch.scatter_add(states * scales.square()[:, None], 0, places, sent)

    def forward(self, nodes: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        hidden = functional.elu(self.gather(self.first(nodes), edges))
        return self.gather(self.second(hidden), edges)


class GraphAttention(nn.Module):
    """Attention over a node's neighbours: nodes (NODES, FEATURES), edges (2, EDGES) -> logits."""

    def __init__(self, heads: int = 2, width: int = 8) -> None:
        super().__init__()
        self.heads, self.width = heads, width
        self.values = nn.Linear(FEATURES, heads * width, bias=False)
        self.sources, self.targets = (nn.Parameter(torch.randn(heads, width)) for _ in range(2))
        self.classifier = nn.Linear(heads * width, CLASSES)

    def forward(self, nodes: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        source, target = edges
        values = self.values(nodes).view(-1, self.heads, self.width)
        scores = (values * self.sources).sum(-1)[source] + (values * self.targets).sum(-1)[target]
        places = target[:, None].expand_as(scores)
        scores = functional.leaky_relu(scores, 0.2)
        lowest = torch.full_like(values[..., 0], -1e9)
        highest = lowest.scatter_reduce(0, places, scores.detach(), "amax")
        weights = (scores - highest[target]).exp()
        total = torch.zeros_like(highest).scatter_add(0, places, weights)
        shares = weights / total[target]
        seen = torch.zeros_like(values).index_add(0, target, shares[..., None] * values[source])
        return self.classifier(functional.elu(seen.flatten(1)))


def graph() -> Batch:
    return {
        "nodes": torch.randn(NODES, FEATURES),
        "edges": torch.randint(NODES, (2, EDGES)),
        "labels": torch.randint(CLASSES, (NODES,)),
    }


def label_nodes(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    logits = model(batch["nodes"], batch["edges"])
    return functional.cross_entropy(logits, batch["labels"]), logits


class Yolo(nn.Module):
    """Box, confidence and class in each cell: (rows, 3, 32, 32) -> (rows, 5 + C, 4, 4)."""

    def __init__(self) -> None:
        super().__init__()
        widths = (3, 8, 16, 16)
        self.layers = nn.Sequential(
            *(
                nn.Sequential(
                    nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False),
                    nn.BatchNorm2d(after),
                    nn.SiLU(),
                )
                for before, after in itertools.pairwise(widths)
            )
        )
        self.pool = nn.MaxPool2d(3, stride=1, padding=1)
        self.head = nn.Conv2d(2 * widths[-1], 5 + CLASSES, 1)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.layers(images)
        return self.head(torch.cat([x, self.pool(x)], dim=1))


def cells() -> Batch:
    """Return images and targets of 4 x 4 cells: whether a cell has a box, the box, its class."""
    return {
        "inputs": torch.randn(ROWS, 3, 32, 32),
        "there": (torch.rand(ROWS, 4, 4) < 0.3).float(),
        "boxes": torch.rand(ROWS, 4, 4, 4),
        "labels": torch.randint(CLASSES, (ROWS, 4, 4)),
    }


def overlap(boxes: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Return the IoU of boxes, given by center and size: (n, 4), (n, 4) -> (n,)."""
    low = torch.maximum(boxes[:, :2] - boxes[:, 2:] / 2, others[:, :2] - others[:, 2:] / 2)
    high = torch.minimum(boxes[:, :2] + boxes[:, 2:] / 2, others[:, :2] + others[:, 2:] / 2)
    common = (high - low).clamp(min=0).prod(dim=1)
    return common / (boxes[:, 2:].prod(1) + others[:, 2:].prod(1) - common + 1e-6)


def detect(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    found = model(batch["inputs"])
    there = batch["there"] > 0
    cells = found.permute(0, 2, 3, 1)
    boxes = cells[there][:, :4].sigmoid()
    loss = functional.binary_cross_entropy_with_logits(cells[..., 4], batch["there"])
    loss = loss + (1 - overlap(boxes, batch["boxes"].movedim(1, -1)[there])).mean()
    return loss + functional.cross_entropy(cells[there][:, 5:], batch["labels"][there]), found


class Radiance(nn.Module):
    """Radiance field of color and density along rays: points (rays, samples, 3) -> (rays, 3)."""

    def __init__(self, octaves: int = 4) -> None:
        super().__init__()
        self.octaves = octaves
        self.field = nn.Sequential(
            nn.Linear(6 * octaves, 32),
            nn.Softplus(),
            nn.Linear(32, 32),
            nn.Softplus(),
            nn.Linear(32, 4),
        )

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        scales = 2.0 ** torch.arange(self.octaves, device=points.device)
        waves = (points[..., None] * scales.to(points.dtype)).flatten(-2)
        values = self.field(torch.cat([waves.sin(), waves.cos()], dim=-1))
        stopped = 1 - torch.exp(-functional.softplus(values[..., 3]) / 8)
        passed = torch.cumprod(1 - stopped, dim=1)
        reached = torch.cat([torch.ones_like(passed[:, :1]), passed[:, :-1]], dim=1)
        return ((stopped * reached)[..., None] * values[..., :3].sigmoid()).sum(dim=1)


def rays() -> Batch:
    return {"inputs": torch.rand(16, 8, 3), "target": torch.rand(16, 3)}


def render(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    colours = model(batch["inputs"])
    return functional.mse_loss(colours, batch["target"]), colours


FAMILIES = [
    Family("PointNet", PointNet, clouds, classify, rate=5e-3),
    Family("Graph convolution", GraphConvolution, graph, label_nodes, rate=5e-3),
    Family("Graph attention", GraphAttention, graph, label_nodes, rate=5e-3),
    Family("YOLO", Yolo, cells, detect, rate=5e-3),
    Family("Radiance field", Radiance, rays, render, rate=5e-3),
]

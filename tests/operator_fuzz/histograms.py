"""Predicates of causes that depend on the edges of histograms."""

from __future__ import annotations

import torch

from diopi_proto.tolerance.torch_operators.comparison import to_host

from .judge import Difference


def edges_are_equal(difference: Difference) -> bool:
    """Return True if neighbouring edges of a histogram's bins are equal or not finite."""
    edges = difference.cpu.leaves()[1]
    return bool(((edges.diff() == 0) | ~edges.diff().isfinite()).any())


def lie_between_edges(difference: Difference) -> bool:
    """Return True if both devices round the edges differently, an element lies between such edges,
    and dl counts the elements between its own."""
    first, _, kwargs = difference.call.arguments
    values = to_host(first).flatten()
    (hist, own), (_, other) = (map(to_host, x.leaves()) for x in (difference.got, difference.cpu))
    close = (own - other).abs() <= 4 * torch.finfo(own.dtype).eps * other.abs().max()
    moved = (torch.searchsorted(edges, values, right=True) for edges in (own, other))
    if not bool(close.all()) or torch.equal(*moved):
        return False
    weight, density = kwargs.get("weight"), kwargs.get("density", False)
    weight = None if weight is None else to_host(weight).flatten()
    return torch.allclose(hist, torch.histogram(values, own, weight=weight, density=density).hist)

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
    """Return True if an element is not between the same edges of a histogram for both devices."""
    first = to_host(difference.call.arguments[0]).flatten()
    one, other = (to_host(x.leaves()[1]) for x in (difference.got, difference.cpu))
    counts = (torch.searchsorted(edges, first, right=True) for edges in (one, other))
    close = (one - other).abs() <= 4 * torch.finfo(one.dtype).eps * other.abs().max()
    return bool(close.all()) and not torch.equal(*counts)

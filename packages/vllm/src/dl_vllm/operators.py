"""Operators of the contract that torch lacks, in ``torch.ops.dl``."""

from __future__ import annotations

import torch


def has_operator(name: str, device: torch.device) -> bool:
    """Return True if dl-core has the query ``has_NAME``, and the device's vendor the operator."""
    query = getattr(torch.ops.dl, f"has_{name}", None)
    return query is not None and bool(query(device.index or 0))

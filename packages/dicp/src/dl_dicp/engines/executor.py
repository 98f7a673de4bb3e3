"""Engines of the executor: each call as a whole, or groups of calls block by block."""

from __future__ import annotations

from .engine import Engine


class ContractEngine(Engine):
    """Runs each call as a whole."""

    executor = "contract"


class TiledEngine(Engine):
    """Runs groups of calls block by block where that is faster."""

    executor = "tiled"

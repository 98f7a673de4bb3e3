"""Engines that use the executor: each call as a whole, or groups of calls block by block."""

from __future__ import annotations

from .engine import Engine


class ContractEngine(Engine):
    """Engine that runs each call as a whole."""

    executor = "contract"


class TiledEngine(Engine):
    """Engine that runs groups of calls block by block if that is faster."""

    executor = "tiled"

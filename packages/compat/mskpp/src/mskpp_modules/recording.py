"""Recording of the launches of a function that is being tuned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .arguments import Packed
    from .building import CompiledKernel


@dataclass(frozen=True)
class Launched:
    """Launch with its arguments before the launch."""

    kernel: CompiledKernel
    blocks: tuple[int, int]
    arguments: list[Packed]


RECORDINGS: list[list[Launched]] = []
"""Recordings in progress."""

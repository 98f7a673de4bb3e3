"""The launches of a function that is to be tuned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .arguments import Packed
    from .building import CompiledKernel


@dataclass(frozen=True)
class Launched:
    """One launch, with its arguments as they were before it."""

    kernel: CompiledKernel
    blocks: int
    arguments: list[Packed]


RECORDINGS: list[list[Launched]] = []
"""Those that are being made."""

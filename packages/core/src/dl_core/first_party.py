"""Commands of this project's own wheels, for messages about wheels that are not installed.

``dl`` finds commands by entry point; this list is for messages only, and tests compare it with the
declarations of the wheels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Wheel(NamedTuple):
    """A wheel with a plugin that is not a vendor."""

    does: str
    commands: tuple[str, ...]

    @property
    def spelled(self) -> str:
        """Return the commands of the wheel as the user types them."""
        return ", ".join(f"dl {name}" for name in self.commands)


WHEELS: Mapping[str, Wheel] = {
    "dl-autotune": Wheel("a tuner of kernels", ("tune",)),
    "dl-conformance": Wheel(
        "which operators of a vendor's library are right", ("conformance", "vendor")
    ),
    "dl-dicp": Wheel('torch.compile(backend="dl")', ("compile", "dicp")),
    "dl-gpu-sim": Wheel("GPU programs run and checked without a GPU", ("gpu-sim",)),
    "dl-optools": Wheel(
        "tools for the operators of a program",
        ("bisect", "bundle", "diagnose", "monitor", "one-iter", "replay", "roofline", "tool"),
    ),
    "dl-vendor-kit": Wheel("projects of vendors for new devices", ("new-vendor",)),
}


def wheel_of(command: str) -> str | None:
    """Return the wheel that adds a command; None if no wheel of ours does."""
    return next((name for name, wheel in WHEELS.items() if command in wheel.commands), None)


def not_installed(distributions: Iterable[str]) -> dict[str, Wheel]:
    """Return our wheels that are not among these distributions."""
    there = set(distributions)
    return {name: wheel for name, wheel in WHEELS.items() if name not in there}

"""A vendor in the shape of CUDA's on a driver that is played, as the tests of this folder want it.

Each module here holds tests of one extension, which the tests of a vendor import: the fixture
``played`` in its conftest.py is the vendor, and ``compiling`` the same with a compiler of kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Played:
    """How the tests run code, and what makes the driver what they need."""

    vendor: str
    """As DL_VENDORS names it."""
    library: str
    """The path of the vendor's library."""
    run_python: Callable[..., str]
    """What Python code prints, given variables as keywords; ``run`` of the tests' processes.py."""
    run_on_vendor: Callable[..., str]
    """The same for code that uses ``vendor``."""
    cards: Callable[[int], dict[str, str]]
    """Variables for so many cards."""
    fails: Mapping[str, Mapping[str, str]]
    """Variables that make a call of the driver fail, by its name in the kit's Api."""
    variables: Mapping[str, str] = field(default_factory=dict)

    def on_vendor(self, code: str) -> str:
        return self.run_on_vendor(code, **self.variables)

    def run(self, code: str) -> str:
        """Code in which ``dl`` is this vendor alone."""
        return self.run_python(code, **self.variables, DL_VENDORS=self.vendor)

    def having(self, **variables: str) -> Played:
        """The same with more variables."""
        return replace(self, variables={**self.variables, **variables})

    def with_cards(self, count: int) -> Played:
        return self.having(**self.cards(count))

    def failing(self, call: str) -> Played:
        return self.having(**self.fails[call])

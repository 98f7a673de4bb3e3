"""Options of ``torch.compile(model, backend="dl")``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dl_dicp.engines import names
from dl_dicp.patterns import registry as patterns


@dataclass(frozen=True)
class Options:
    """Values of ``torch.compile(options={...})``.

    :ivar engine: how graphs run: ``"contract"``, call by call; ``"tiled"``, with groups of calls
        run block by block if that is faster; ``"codegen"``, with groups compiled to kernels if
        those are faster; ``"capture"``, as device graphs if the vendor supports them;
        ``"inductor"``, with torch's own compiler if the CPU can access the device's memory; or
        the name of a plugin's graph engine, which runs the calls that it accepts. Programs for all
        sizes do not use ``"codegen"``. Calls that an engine does not run are run as with
        ``"tiled"``.
    :ivar patterns: patterns that rewrite sequences of calls into fused calls: those that are
        enabled by default (True), none (False), or a list of names.
    :ivar limit: maximum number of programs of one graph: one for all sizes, and one for each
        argument layout that it does not serve. Calls beyond the limit run eagerly.
    :ivar frozen: weights do not change between calls without gradients. Values that depend only on
        weights are computed once, and the vendor may cache copies in layouts of its own. Writes to
        a weight through torch, and replaced weights, are noticed; writes through ``weight.data``
        are not.
    :ivar check: run each new program once more and compare its results with those of the eager
        run; use the program only if they agree.
    """

    limit: int = 16
    check: bool = True
    engine: str = "tiled"
    patterns: bool | Sequence[str] = True
    frozen: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.limit, bool) or not isinstance(self.limit, int) or self.limit < 0:
            raise ValueError(f"[dl] the option limit must be an integer >= 0, not {self.limit!r}")
        patterns.chosen(self.patterns)
        for name in ("check", "frozen"):
            if not isinstance(getattr(self, name), bool):
                value = getattr(self, name)
                raise ValueError(f"[dl] the option {name} must be True or False, not {value!r}")
        if not names.is_known(self.engine):
            known = ", ".join(names.names())
            raise ValueError(f"[dl] the option engine must be one of {known}, not {self.engine!r}")

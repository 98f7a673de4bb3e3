"""Options of ``torch.compile(model, backend="dl")``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dl_dicp.engines import names
from dl_dicp.patterns import registry as patterns


@dataclass(frozen=True)
class Options:
    """Values of ``torch.compile(options={...})``.

    :ivar engine: how graphs run: ``"contract"``, call after call, or ``"tiled"``, with groups of
        calls block by block where that is faster; ``"codegen"``, with groups as compiled kernels
        where those are faster; ``"capture"``, as device graphs where the vendor has them;
        ``"inductor"``, by torch's own compiler where the CPU computes in the device's memory; or
        the name of a plugin's graph engine, which gets the calls that it accepts. What an engine
        does not take runs as with ``"tiled"``.
    :ivar patterns: which sequences of calls are rewritten into fused ones: those of the patterns
        that are on by default, none (False), or those of a list of names. Programs for all sizes
        have no engine of a plugin.
    :ivar limit: programs of one graph: one for all sizes, and one for each layout of arguments that
        it does not serve; others run eagerly.
    :ivar frozen: weights do not change between calls without gradients: what follows from them
        alone is computed once, and the vendor may keep copies in layouts of its own. Writes to a
        weight through torch, and replaced weights, are noticed; writes through ``weight.data``
        are not.
    :ivar check: run each new program once more and compare it with the eager run; it is used only
        if it agrees.
    """

    limit: int = 16
    check: bool = True
    engine: str = "tiled"
    patterns: bool | Sequence[str] = True
    frozen: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.limit, bool) or not isinstance(self.limit, int) or self.limit < 0:
            raise ValueError(f"[dl] the option limit is {self.limit!r}, not a number from 0 on")
        patterns.chosen(self.patterns)
        for name in ("check", "frozen"):
            if not isinstance(getattr(self, name), bool):
                value = getattr(self, name)
                raise ValueError(f"[dl] the option {name} is {value!r}, neither True nor False")
        if not names.is_known(self.engine):
            known = ", ".join(names.names())
            raise ValueError(f"[dl] the option engine is {self.engine!r}, not one of {known}")

"""The engine ``codegen``: kernels for groups of calls, compiled while the executor runs."""

from __future__ import annotations

from typing import cast

import torch

from dl_dicp.engines import registry
from dl_dicp.engines.delegating import DelegatingEngine
from dl_dicp.engines.interface import GraphEngine

from .opening import open_for
from .racing import RacingProgram


class CodegenEngine(DelegatingEngine):
    """Engine that runs groups of calls as compiled kernels if these are faster."""

    program_class = RacingProgram
    # Without kernels the results are the same, only slower.
    warns = False
    # Kernels are built for one layout and have to win a race with it.
    serves_sizes = False

    def open(self, device: torch.device) -> GraphEngine | str:
        """See :meth:`DelegatingEngine.open`."""
        return registry.open_once(self.name, device, lambda: open_for(device))

    def begin_builds(self) -> None:
        """See :meth:`Engine.begin_builds`."""
        for program in self._racing():
            program.begin()

    def finish_builds(self) -> list[str]:
        """See :meth:`Engine.finish_builds`; a device without kernels counts as one graph."""
        return [*(each.problem() for each in self._racing()), *filter(None, [self.problem])]

    def _racing(self) -> list[RacingProgram]:
        return cast("list[RacingProgram]", list(self.programs.values()))

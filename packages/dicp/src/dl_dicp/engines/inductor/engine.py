"""The engine ``inductor``: torch's own compiler, applied to whole Dynamo graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from torch.fx import GraphModule

from dl_dicp.engines.engine import Engine

from .compiling import compile_by_inductor
from .reasons import DeclinedError, report_declined

if TYPE_CHECKING:
    from dl_dicp.options import Options


class InductorEngine(Engine):
    """Engine that compiles whole Dynamo graphs; the default engine runs graphs that it declines."""

    @classmethod
    def compile_module(
        cls, module: GraphModule, examples: Sequence[Any], options: Options
    ) -> Callable[..., Any] | str | None:
        """See :meth:`Engine.compile_module`."""
        try:
            return compile_by_inductor(module, examples, options)
        except DeclinedError as reason:
            return report_declined(reason)

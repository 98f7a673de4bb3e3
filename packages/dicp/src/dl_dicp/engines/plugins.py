"""Graph engines of plugins."""

from __future__ import annotations

from typing import cast

import torch

from . import registry
from .delegating import DelegatingEngine
from .interface import GraphEngine
from .names import contributed


class PluginEngine(DelegatingEngine):
    """A graph engine that a plugin contributes by the hook ``dl_graph_engines``."""

    def open(self, device: torch.device) -> GraphEngine | str:
        """See :meth:`DelegatingEngine.open`. Engines of plugins serve all devices."""
        return registry.open_once(self.name, device, self._load)

    def _load(self) -> GraphEngine | str:
        try:
            engine = contributed()[self.name].load()
        except Exception as error:  # noqa: BLE001 - models must run even if a plugin fails
            return f"it cannot be loaded: {type(error).__name__}: {error}"
        missing = [
            each for each in ("version", "accepts", "compile", "load") if not hasattr(engine, each)
        ]
        if missing:
            return f"{engine!r} is not a graph engine: it lacks {', '.join(missing)}"
        return cast("GraphEngine", engine)

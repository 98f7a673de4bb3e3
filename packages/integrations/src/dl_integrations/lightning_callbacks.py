"""Callback that Lightning adds to every Trainer by an entry point, and that only warns."""

from __future__ import annotations

import sys
import warnings
from typing import Any


def factory() -> list[Any]:
    """Return a callback that warns if a Trainer uses the CPU although there is a dl device."""
    from dl_integrations.device import is_there

    if not is_there():
        return []
    package = "lightning.pytorch" if "lightning.pytorch" in sys.modules else "pytorch_lightning"
    callbacks = sys.modules.get(f"{package}.callbacks")
    if callbacks is None:
        return []

    class TellOfCPU(callbacks.Callback):  # type: ignore[misc,name-defined]
        def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
            if trainer.strategy.root_device.type == "cpu":
                warnings.warn(
                    "dl-integrations: this Trainer uses the CPU although there is a dl device. "
                    "Trainer(strategy='dl') uses it.",
                    stacklevel=2,
                )

    return [TellOfCPU()]

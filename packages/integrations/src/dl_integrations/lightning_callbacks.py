"""Callback that Lightning adds to every Trainer by its entry point: a warning, no more."""

from __future__ import annotations

import sys
import warnings
from typing import Any


def factory() -> list[Any]:
    """A callback that tells when a Trainer uses the CPU although there is a dl device."""
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

"""State of the random generator that a call draws from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch


class GeneratorState:
    """Reads and writes one generator: the argument of a call, or its device's default generator."""

    def __init__(self, bound: Mapping[str, Any], device: torch.device) -> None:
        self._given: torch.Generator | None = bound.get("generator")
        self._device = device
        self.name = f"{device}" if self._given is None else f"{id(self._given)}"

    def read(self) -> torch.Tensor:
        if self._given is not None:
            return self._given.get_state()
        if self._device.type == "cpu":
            return torch.get_rng_state()
        found: torch.Tensor = torch.get_device_module(self._device).get_rng_state(self._device)
        return found

    def write(self, state: torch.Tensor) -> None:
        if self._given is not None:
            self._given.set_state(state)
        elif self._device.type == "cpu":
            torch.set_rng_state(state)
        else:
            torch.get_device_module(self._device).set_rng_state(state, self._device)

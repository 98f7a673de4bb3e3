"""Accelerator and strategy named ``dl`` for Lightning's Fabric, in its own registries."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import torch

from dl_integrations.device import DEVICE, index_of
from dl_integrations.lightning_devices import DeviceFacts, mixed_precision, register_names

Classes = tuple[type, type]


def register(package: str) -> None:
    """Register both with ``package``: ``lightning.fabric`` or ``lightning_fabric``."""
    accelerators = import_module(f"{package}.accelerators").ACCELERATOR_REGISTRY
    strategies = import_module(f"{package}.strategies").STRATEGY_REGISTRY
    register_names(accelerators, strategies, classes(package))


@cache
def classes(package: str) -> Classes:
    """Return the accelerator and the strategy for Fabric of ``package``."""
    accelerators = import_module(f"{package}.accelerators")
    single = import_module(f"{package}.strategies").SingleDeviceStrategy
    amp = import_module(f"{package}.plugins.precision.amp").MixedPrecision

    class DLAccelerator(DeviceFacts, accelerators.Accelerator):  # type: ignore[name-defined,misc]
        """Accelerator of dl devices, for ``Fabric(accelerator="dl", strategy="dl")``."""

    class DLStrategy(single):  # type: ignore[misc,valid-type]
        """Strategy for one dl device, for ``Fabric(accelerator="dl", strategy="dl")``.

        :param device: index or name of the device.
        """

        def __init__(self, device: Any = DEVICE, **kwargs: Any) -> None:
            index = index_of(device)
            super().__init__(device=torch.device(DEVICE, index), **kwargs)

        @property
        def precision(self) -> Any:
            return single.precision.fget(self)

        @precision.setter
        def precision(self, precision: Any) -> None:
            self._precision = mixed_precision(precision, amp)

        @classmethod
        def register_strategies(cls, strategy_registry: Any) -> None:
            """Do nothing, because :func:`register` registers the strategy."""

    return DLAccelerator, DLStrategy

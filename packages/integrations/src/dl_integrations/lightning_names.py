"""Accelerator and strategy named ``dl`` for Lightning's Trainer, in its own registries.

Two packages contain the Trainer, ``lightning.pytorch`` and ``pytorch_lightning``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import torch

from dl_integrations.device import DEVICE, dl, index_of
from dl_integrations.lightning_devices import DeviceFacts, mixed_precision, register_names

Classes = tuple[type, type]


def register(package: str) -> None:
    """Register both with the Trainer of ``package``."""
    accelerators = import_module(f"{package}.accelerators").AcceleratorRegistry
    strategies = import_module(f"{package}.strategies").StrategyRegistry
    register_names(accelerators, strategies, classes(package))


@cache
def classes(package: str) -> Classes:
    """Return the accelerator and the strategy for the Trainer of ``package``."""
    accelerators = import_module(f"{package}.accelerators")
    strategies = import_module(f"{package}.strategies")
    amp = import_module(f"{package}.plugins.precision.amp").MixedPrecision

    class DLAccelerator(DeviceFacts, accelerators.Accelerator):  # type: ignore[name-defined,misc]
        """Accelerator of dl devices, for ``Trainer(accelerator="dl", strategy="dl")``."""

        def get_device_stats(self, device: Any) -> dict[str, Any]:
            return dict(dl().memory_stats(device))

    class DLStrategy(strategies.SingleDeviceStrategy):  # type: ignore[name-defined,misc]
        """Strategy for one dl device, for ``Trainer(strategy="dl")``, including its accelerator.

        :param device: index or name of the device.
        """

        strategy_name = DEVICE

        def __init__(self, device: Any = DEVICE, **kwargs: Any) -> None:
            index = index_of(device)
            super().__init__(device=torch.device(DEVICE, index), **kwargs)

        @property
        def accelerator(self) -> Any:
            return self._accelerator

        @accelerator.setter
        def accelerator(self, accelerator: Any) -> None:
            # The Trainer passes the CPU accelerator if none was requested.
            own = accelerator is None or isinstance(accelerator, DLAccelerator)
            self._accelerator = accelerator if own else DLAccelerator()

        @property
        def precision_plugin(self) -> Any:
            return strategies.SingleDeviceStrategy.precision_plugin.fget(self)

        @precision_plugin.setter
        def precision_plugin(self, plugin: Any) -> None:
            self._precision_plugin = mixed_precision(plugin, amp)

        @classmethod
        def register_strategies(cls, strategy_registry: Any) -> None:
            """Do nothing, because :func:`register` registers the strategy."""

    return DLAccelerator, DLStrategy

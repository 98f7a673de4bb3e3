"""Devices of Lightning's accelerators for dl, in the Trainer and in Fabric."""

from __future__ import annotations

from typing import Any

import torch

from dl_integrations.device import DEVICE, dl, is_there


class DeviceFacts:
    """The methods of an accelerator that concern the devices alone."""

    def setup_device(self, device: torch.device) -> None:
        """Make ``device`` current.

        :raises ValueError: it is none of dl: Lightning's own choice of a strategy knows the
            devices of its own accelerators only, and takes the CPU for others.
        """
        if device.type != DEVICE:
            raise ValueError(
                f"[dl-integrations] the strategy puts the model on {device}, although the "
                f"accelerator is dl. Ask for the strategy too: strategy='dl'."
            )
        dl().set_device(device)

    def teardown(self) -> None:
        """Give cached memory back."""
        dl().empty_cache()

    @staticmethod
    def parse_devices(devices: Any) -> list[int]:
        """Indices of the devices: from a count, a list, ``"0,1"``, ``"auto"`` or -1 for all.

        :raises ValueError: there are not so many, or it is something else.
        """
        count = dl().device_count()
        text = str(devices).strip()
        if isinstance(devices, (list, tuple)):
            wanted = [int(index) for index in devices]
        elif text in ("auto", "-1"):
            wanted = list(range(count))
        elif "," in text:
            wanted = [int(part) for part in text.split(",") if part.strip()]
        elif text.isdigit():
            wanted = list(range(int(text)))
        else:
            raise ValueError(
                f"[dl-integrations] devices={devices!r} is not a count, a list of indices or 'auto'"
            )
        if not wanted or not all(0 <= index < count for index in wanted):
            raise ValueError(
                f"[dl-integrations] devices={devices!r} asks for dl devices that are not there; "
                f"there are {count}. `dl doctor` tells which are visible and why."
            )
        return wanted

    @staticmethod
    def get_parallel_devices(devices: Any) -> list[torch.device]:
        """The devices of these indices."""
        indices = DeviceFacts.parse_devices(devices)
        return [torch.device(DEVICE, index) for index in indices]

    @staticmethod
    def auto_device_count() -> int:
        """1: the strategy trains on one device."""
        return 1

    @staticmethod
    def is_available() -> bool:
        """Return True if a dl device is available."""
        return is_there()

    @staticmethod
    def name() -> str:
        """The name in the registry."""
        return DEVICE


def accelerator_names() -> tuple[str, ...]:
    """The names that dl's accelerator is registered by: also that of CUDA while it is mocked, since
    Lightning's own for that name looks at the types of devices, which stay those of dl."""
    from dl_core.torch_backend import mock_cuda

    return (DEVICE, "cuda") if mock_cuda.is_on() else (DEVICE,)


def mixed_precision(plugin: Any, kind: type) -> Any:
    """The plugin to use for ``plugin``: Lightning makes that of mixed precision for ``cuda`` where
    it does not know the device, and then it would change nothing on dl."""
    if isinstance(plugin, kind) and getattr(plugin, "device", None) == "cuda":
        return kind(plugin.precision, DEVICE)  # type: ignore[attr-defined]
    return plugin


def register_names(accelerators: Any, strategies: Any, classes: tuple[type, type]) -> None:
    """Add an accelerator and a strategy to the registries of one of Lightning's packages."""
    accelerator, strategy = classes
    for name in accelerator_names():
        accelerators.register(name, accelerator, description="dl devices", override=True)
    strategies.register(DEVICE, strategy, description="one dl device", override=True)

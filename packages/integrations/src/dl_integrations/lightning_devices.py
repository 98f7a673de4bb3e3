"""Device methods of Lightning's accelerators for dl, for the Trainer and Fabric."""

from __future__ import annotations

from typing import Any

import torch

from dl_integrations.device import DEVICE, dl, is_there


class DeviceFacts:
    """Mixin with the methods of an accelerator that concern only devices."""

    def setup_device(self, device: torch.device) -> None:
        """Make ``device`` current.

        :raises ValueError: it is not a dl device. Lightning's automatic choice of a strategy
            supports only the devices of its own accelerators, and uses the CPU for all others.
        """
        if device.type != DEVICE:
            raise ValueError(
                f"[dl-integrations] the strategy puts the model on {device}, although the "
                f"accelerator is dl. Pass the strategy as well: strategy='dl'."
            )
        dl().set_device(device)

    def teardown(self) -> None:
        """Release cached memory."""
        dl().empty_cache()

    @staticmethod
    def parse_devices(devices: Any) -> list[int]:
        """Return device indices from a count, a list, ``"0,1"``, ``"auto"``, or -1 for all.

        :raises ValueError: a device does not exist, or ``devices`` has another form.
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
                f"[dl-integrations] devices={devices!r} asks for dl devices that do not exist; "
                f"visible devices: {count}. `dl doctor` lists them, and the reasons why others are "
                "not visible."
            )
        return wanted

    @staticmethod
    def get_parallel_devices(devices: Any) -> list[torch.device]:
        """Return the devices with these indices."""
        indices = DeviceFacts.parse_devices(devices)
        return [torch.device(DEVICE, index) for index in indices]

    @staticmethod
    def auto_device_count() -> int:
        """Return 1, because the strategy trains on one device."""
        return 1

    @staticmethod
    def is_available() -> bool:
        """Return True if a dl device is available."""
        return is_there()

    @staticmethod
    def name() -> str:
        """Return the name in the registry."""
        return DEVICE


def accelerator_names() -> tuple[str, ...]:
    """Return the names under which dl's accelerator is registered. They include ``cuda`` while CUDA
    is mocked, because Lightning's own CUDA accelerator checks device types, which are still dl."""
    from dl_core.torch_backend import mock_cuda

    return (DEVICE, "cuda") if mock_cuda.is_on() else (DEVICE,)


def mixed_precision(plugin: Any, kind: type) -> Any:
    """Return the plugin to use instead of ``plugin``. For devices that it does not know, Lightning
    creates the plugin for mixed precision for ``cuda``, which would have no effect on dl."""
    if isinstance(plugin, kind) and getattr(plugin, "device", None) == "cuda":
        return kind(plugin.precision, DEVICE)  # type: ignore[attr-defined]
    return plugin


def register_names(accelerators: Any, strategies: Any, classes: tuple[type, type]) -> None:
    """Add an accelerator and a strategy to the registries of one of Lightning's packages."""
    accelerator, strategy = classes
    for name in accelerator_names():
        accelerators.register(name, accelerator, description="dl devices", override=True)
    strategies.register(DEVICE, strategy, description="one dl device", override=True)

"""The strategy for one device, which Lightning creates on the CPU for devices not on its list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dl_integrations.device import DEVICE
from dl_integrations.wrappers.lightning_packages import CONNECTORS, wrappers


def _wrap(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def _choose_strategy(self: Any) -> Any:
        found = original(self)
        devices = self._parallel_devices
        if isinstance(found, str) or len(devices) != 1 or devices[0].type != DEVICE:
            return found
        from dl_integrations import lightning_fabric_names, lightning_names

        package = type(self).__module__.partition(".trainer")[0].partition(".connector")[0]
        names = lightning_fabric_names if "fabric" in package else lightning_names
        return names.classes(package)[1](devices[0])

    return _choose_strategy


WRAPPERS = wrappers(
    CONNECTORS,
    ("_choose_strategy",) * 2,
    ("b17b246b6c4b2f4f", "031077f4fe78e0e3"),
    'Trainer(accelerator="auto")',
    _wrap,
)

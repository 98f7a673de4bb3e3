"""``strategy="ddp"``: devices with an index, for which Lightning creates a stream of CUDA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dl_integrations.device import DEVICE
from dl_integrations.wrappers.lightning_packages import wrappers


def _wrap(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def determine_ddp_device_ids(self: Any) -> Any:
        # Without indices, DistributedDataParallel uses the device of the module.
        return None if self.root_device.type == DEVICE else original(self)

    return determine_ddp_device_ids


WRAPPERS = wrappers(
    ("strategies.ddp:DDPStrategy",) * 2,
    ("determine_ddp_device_ids", "_determine_ddp_device_ids"),
    ("b99056366e452559", "12358b5d56301cf9"),
    'Trainer(devices=2, strategy="ddp")',
    _wrap,
)

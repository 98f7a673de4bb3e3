"""``mmengine.runner.Runner``: the constant with the device of models and batches."""

from __future__ import annotations

from collections.abc import Callable

from dl_integrations.device import DEVICE
from dl_integrations.wrappers.wrapper import Wrapper


def _wrap(original: Callable[[], str]) -> Callable[[], str]:
    def get_device() -> str:
        found = original()
        return DEVICE if found == "cpu" else found

    return get_device


WRAPPERS = [
    Wrapper(
        "mmengine.device.utils",
        "get_device",
        ("0.10.7",),
        "675f58fa8d20e1d1",
        "Runner.from_cfg(config).train()",
        _wrap,
    )
]

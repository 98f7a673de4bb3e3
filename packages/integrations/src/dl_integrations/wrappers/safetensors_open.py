"""``load_file(path, device="dl")``, ``safe_open(..., device="dl")``: the list of device names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dl_integrations.wrappers.wrapper import Wrapper


def _wrap(original: Callable[..., Any]) -> Callable[..., Any]:
    def safe_open(filename: Any, framework: str, device: Any = "cpu", **kwargs: Any) -> Any:
        from dl_integrations.safetensors import known_device

        return original(filename, framework, device=known_device(device), **kwargs)

    return safe_open


WRAPPERS = [
    Wrapper(
        "safetensors",
        "safe_open",
        ("0.8.0",),
        "88af962d93330fea",
        'safetensors.torch.load_file(path, device="dl")',
        _wrap,
    )
]

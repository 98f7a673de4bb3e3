"""``pipeline()`` and ``pipeline(device=0)``: the list of devices that an index may mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dl_integrations.device import DEVICE
from dl_integrations.wrappers.wrapper import Wrapper


def _wrap(original: Callable[..., None]) -> Callable[..., None]:
    def __init__(self: Any, model: Any, *args: Any, device: Any = None, **kwargs: Any) -> None:  # noqa: N807
        import torch

        # A model that was loaded with a device map stays where it is.
        loaded = getattr(model, "hf_device_map", None) is not None
        if not torch.cuda.is_available():
            if device is None and not loaded:
                device = 0
            if isinstance(device, int) and device >= 0:
                device = torch.device(DEVICE, device)
        original(self, model, *args, device=device, **kwargs)

    return __init__


WRAPPERS = [
    Wrapper(
        "transformers.pipelines.base",
        "Pipeline.__init__",
        ("5.20.2",),
        "5c571eff91f304f8",
        "pipeline(), pipeline(device=0)",
        _wrap,
    )
]

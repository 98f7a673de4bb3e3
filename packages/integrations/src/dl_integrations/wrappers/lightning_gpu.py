"""``accelerator="gpu"`` of Lightning's Trainer and Fabric: the list of GPU backends."""

from __future__ import annotations

from collections.abc import Callable

from dl_integrations.device import DEVICE
from dl_integrations.wrappers.lightning_packages import CONNECTORS, wrappers


def _wrap(original: Callable[[], str]) -> Callable[[], str]:
    def _choose_gpu_accelerator_backend() -> str:
        import torch

        return original() if torch.cuda.is_available() else DEVICE

    return _choose_gpu_accelerator_backend


WRAPPERS = wrappers(
    CONNECTORS,
    ("_choose_gpu_accelerator_backend",) * 2,
    ("a0a4464a19f6f17a", "ce5bc5c9e9f1f82f"),
    'Trainer(accelerator="gpu")',
    _wrap,
)

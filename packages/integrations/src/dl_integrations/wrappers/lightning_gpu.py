"""``accelerator="gpu"`` of Lightning's Trainer and Fabric: the list of GPU backends."""

from __future__ import annotations

from collections.abc import Callable

from dl_integrations.device import DEVICE
from dl_integrations.wrappers.wrapper import Wrapper


def _wrap(original: Callable[[], str]) -> Callable[[], str]:
    def _choose_gpu_accelerator_backend() -> str:
        import torch

        return original() if torch.cuda.is_available() else DEVICE

    return _choose_gpu_accelerator_backend


_TRAINER = "trainer.connectors.accelerator_connector", "_AcceleratorConnector", "a0a4464a19f6f17a"
_FABRIC = "connector", "_Connector", "ce5bc5c9e9f1f82f"
WRAPPERS = [
    Wrapper(
        f"{package}.{module}",
        f"{connector}._choose_gpu_accelerator_backend",
        ("2.6.6",),
        digest,
        'Trainer(accelerator="gpu")',
        _wrap,
    )
    for package, (module, connector, digest) in (
        ("lightning.pytorch", _TRAINER),
        ("pytorch_lightning", _TRAINER),
        ("lightning.fabric", _FABRIC),
        ("lightning_fabric", _FABRIC),
    )
]

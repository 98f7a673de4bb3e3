"""Lightning's Trainer and Fabric train on dl in mixed precision, and the Trainer resumes."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import lightning
import pytest
import torch
from lightning.pytorch.callbacks import Callback
from torch.utils.data import DataLoader

from dl_integrations.lightning import Accelerator, Strategy
from dl_integrations.random_state import RandomState
from tiny import DEVICE, Classifier, Examples, build_classifier

pytestmark = pytest.mark.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Module(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.model: Classifier = build_classifier()

    def training_step(self, batch: dict[str, torch.Tensor], _: int) -> torch.Tensor:
        return self.model(**batch)["loss"]

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), lr=0.05)


class States(RandomState, Callback):
    """dl's random states in Lightning's checkpoints."""


def trainer(epochs: int, folder: Path, **options: Any) -> lightning.Trainer:
    return lightning.Trainer(
        max_epochs=epochs,
        default_root_dir=folder,
        callbacks=[States()],
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        logger=False,
        **options,
    )


def batches() -> DataLoader[dict[str, torch.Tensor]]:
    return DataLoader(Examples(), batch_size=8)


@pytest.mark.parametrize(
    ("precision", "dtype"),
    [
        ("32-true", torch.float32),
        ("bf16-mixed", torch.bfloat16),
        ("16-mixed", torch.float16),
        ("bf16-true", torch.bfloat16),
    ],
)
def test_training_goes_on_from_a_checkpoint(
    precision: str, dtype: torch.dtype, tmp_path: Path
) -> None:
    options = {"accelerator": "dl", "strategy": "dl", "devices": 1, "precision": precision}
    module, train = Module(), trainer(1, tmp_path, **options)
    train.fit(module, batches())
    train.save_checkpoint(tmp_path / "one.ckpt")
    straight = trainer(2, tmp_path, **options)
    straight_module = Module()
    straight.fit(straight_module, batches())
    assert isinstance(straight.accelerator, Accelerator)
    assert isinstance(straight.strategy, Strategy) and straight.strategy.root_device == DEVICE
    losses = straight_module.model.losses
    assert straight_module.model.dtypes == {dtype} and losses[-1] < losses[0]

    resumed = Module()
    trainer(2, tmp_path, **options).fit(resumed, batches(), ckpt_path=tmp_path / "one.ckpt")
    assert resumed.model.losses == losses[3:]


def test_the_strategy_brings_its_accelerator(tmp_path: Path) -> None:
    train = trainer(1, tmp_path, strategy="dl")
    assert isinstance(train.accelerator, Accelerator)
    train.fit(Module(), batches())


@pytest.mark.parametrize("accelerator", ["dl", "auto", "gpu"])
def test_the_accelerator_alone_brings_its_strategy(accelerator: str, tmp_path: Path) -> None:
    train = trainer(1, tmp_path, accelerator=accelerator)
    assert train.strategy.root_device == DEVICE
    train.fit(Module(), batches())


def test_a_trainer_on_the_cpu_is_reported(tmp_path: Path) -> None:
    class OnCPU(Module):
        def training_step(self, batch: dict[str, torch.Tensor], _: int) -> torch.Tensor:
            return self.model.first(batch["x"]).sum()

    with pytest.warns(UserWarning, match="uses the CPU although there is a dl device"):
        trainer(1, tmp_path, accelerator="cpu").fit(OnCPU(), batches())


@pytest.mark.parametrize(("devices", "wanted"), [(1, [0]), ("auto", None), ([0], [0]), ("0,", [0])])
def test_devices(devices: Any, wanted: list[int] | None) -> None:
    everything = list(range(torch.dl.device_count()))
    assert Accelerator.parse_devices(devices) == (everything if wanted is None else wanted)


@pytest.mark.parametrize("devices", [0, [9], "many", -2])
def test_devices_that_are_not_there(devices: Any) -> None:
    with pytest.raises(ValueError, match="devices="):
        Accelerator.parse_devices(devices)


@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed", "16-mixed"])
def test_fabric(precision: str) -> None:
    fabric = lightning.Fabric(accelerator="dl", strategy="dl", precision=precision)
    model = build_classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    wrapped, optimizer = fabric.setup(model, optimizer)
    for batch in fabric.setup_dataloaders(batches()):
        optimizer.zero_grad()
        fabric.backward(wrapped(**batch)["loss"])
        optimizer.step()
    assert fabric.device == DEVICE and next(model.parameters()).device == DEVICE
    dtypes = {"32-true": torch.float32, "bf16-mixed": torch.bfloat16, "16-mixed": torch.float16}
    assert model.dtypes == {dtypes[precision]}


def test_the_batch_size_finder_knows_what_does_not_fit() -> None:
    from lightning.pytorch.utilities.memory import is_oom_error

    with pytest.raises(torch.OutOfMemoryError) as caught:
        torch.empty(2**50, device="dl")
    assert is_oom_error(caught.value)

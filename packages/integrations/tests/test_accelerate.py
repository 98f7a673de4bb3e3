"""accelerate trains on dl in mixed precision, and resumes from a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState, PartialState
from accelerate.utils import find_executable_batch_size
from torch.utils.data import DataLoader
from transformers import TrainingArguments

from dl_integrations.accelerate import RandomState, max_memory, use_float16
from tiny import DEVICE, Examples, build_classifier


@pytest.fixture(autouse=True)
def _fresh_state() -> Iterator[None]:
    AcceleratorState._reset_state(True)
    yield
    AcceleratorState._reset_state(True)


def test_the_device_is_dl() -> None:
    assert Accelerator().device.type == "dl"
    assert PartialState().device.type == "dl"


def test_the_cpu_is_used_if_it_is_asked_for() -> None:
    accelerator = Accelerator(cpu=True)
    assert accelerator.device.type == "cpu"
    assert accelerator.prepare(torch.nn.Linear(2, 2)).weight.device.type == "cpu"
    arguments = TrainingArguments(use_cpu=True, report_to=[])
    assert arguments.device.type == "cpu"


def epoch(accelerator, model, optimizer, loader) -> list[float]:
    losses = []
    for batch in loader:
        optimizer.zero_grad()
        loss = model(**batch)["loss"]
        accelerator.backward(loss)
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize(
    ("precision", "dtype"),
    [("no", torch.float32), ("bf16", torch.bfloat16), ("fp16", torch.float16)],
)
def test_training_goes_on_from_a_checkpoint(
    precision: str, dtype: torch.dtype, tmp_path: Path
) -> None:
    def start():
        AcceleratorState._reset_state(True)
        accelerator = Accelerator(mixed_precision="no" if precision == "fp16" else precision)
        if precision == "fp16":
            use_float16(accelerator)
        model = build_classifier()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
        loader = DataLoader(Examples(), batch_size=8)
        prepared = accelerator.prepare(model, optimizer, loader)
        accelerator.register_for_checkpointing(RandomState())
        return accelerator, *prepared

    accelerator, model, optimizer, loader = start()
    first = epoch(accelerator, model, optimizer, loader)
    accelerator.save_state(str(tmp_path))
    straight = epoch(accelerator, model, optimizer, loader)
    assert model.dtypes == {dtype} and next(model.parameters()).device == DEVICE

    accelerator, model, optimizer, loader = start()
    accelerator.load_state(str(tmp_path))
    assert epoch(accelerator, model, optimizer, loader) == straight
    assert straight != first and straight[-1] < first[0]


def test_a_batch_that_does_not_fit_is_made_smaller() -> None:
    tried = []

    @find_executable_batch_size(starting_batch_size=2**45)
    def train(batch_size: int) -> None:
        tried.append(batch_size)
        if batch_size >= 2**44 + 2**43:
            torch.empty(batch_size, device="dl")

    train()
    assert len(tried) > 2 and tried[-1] < 2**44 + 2**43


def test_float16_is_refused_where_it_would_not_be_used() -> None:
    with pytest.raises(ValueError, match="with 'bf16'"):
        use_float16(Accelerator(mixed_precision="bf16"))


def test_memory_for_a_model() -> None:
    found = max_memory()
    assert set(found) == {*range(torch.dl.device_count()), "cpu"}
    assert 0 < found[0] <= torch.dl.mem_get_info(0)[1]
    with pytest.raises(ValueError, match="share=2"):
        max_memory(share=2)

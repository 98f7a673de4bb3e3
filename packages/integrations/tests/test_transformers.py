"""transformers' Trainer trains on dl in bfloat16 and resumes from a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM

from dl_integrations.accelerate import max_memory
from dl_integrations.transformers import RandomStateCallback, Trainer, TrainingArguments
from tiny import DEVICE, Examples, build_classifier

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


def trainer(folder: Path, **options: Any) -> Trainer:
    arguments = TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=4,
        num_train_epochs=2,
        save_steps=6,
        logging_steps=1,
        learning_rate=0.05,
        report_to=[],
        disable_tqdm=True,
        **options,
    )
    return Trainer(
        build_classifier(), arguments, train_dataset=Examples(), callbacks=[RandomStateCallback()]
    )


def test_the_device_is_dl(tmp_path: Path) -> None:
    plain = transformers.TrainingArguments(output_dir=str(tmp_path), report_to=[])
    assert plain.device.type == "dl"


@pytest.mark.parametrize(
    ("options", "dtype"),
    [
        ({}, torch.float32),
        ({"bf16": True}, torch.bfloat16),
        ({"fp16": True}, torch.float16),
    ],
)
def test_training_goes_on_from_a_checkpoint(
    options: dict[str, Any], dtype: torch.dtype, tmp_path: Path
) -> None:
    straight = trainer(tmp_path, **options)
    straight.train()
    losses = straight.model.losses
    assert len(losses) == 12 and straight.model.dtypes == {dtype}
    assert sum(losses[-4:]) < sum(losses[:4])
    assert next(straight.model.parameters()).device == DEVICE

    resumed = trainer(tmp_path, **options)
    resumed.train(resume_from_checkpoint=str(tmp_path / "checkpoint-6"))
    assert resumed.model.losses == losses[6:]


def test_without_the_random_states_it_draws_other_numbers(tmp_path: Path) -> None:
    straight = trainer(tmp_path)
    straight.train()
    (tmp_path / "checkpoint-6" / "rng_state_dl.pt").unlink()
    resumed = trainer(tmp_path)
    resumed.train(resume_from_checkpoint=str(tmp_path / "checkpoint-6"))
    assert resumed.model.losses != straight.model.losses[6:]


def test_other_faults_of_arguments_are_reported(tmp_path: Path) -> None:
    for wrong in ({"bf16": True, "fp16": True}, {"bf16": True, "lr_scheduler_type": "greedy"}):
        with pytest.raises(ValueError, match=r"bf16|requires an eval strategy"):
            TrainingArguments(output_dir=str(tmp_path), report_to=[], **wrong)


def test_a_model_is_loaded_where_there_is_room(tmp_path: Path) -> None:
    config = LlamaConfig(
        vocab_size=64,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    LlamaForCausalLM(config).save_pretrained(tmp_path)
    for options in ({"device_map": "dl"}, {"device_map": "auto", "max_memory": max_memory()}):
        assert LlamaForCausalLM.from_pretrained(tmp_path, **options).device == DEVICE

"""dl for transformers' Trainer, which takes its device from accelerate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import TrainerCallback, TrainerControl, TrainerState

from dl_integrations.accelerate import use_float16
from dl_integrations.device import dl, is_there
from dl_integrations.random_state import RandomState

__all__ = ["RandomStateCallback", "Trainer", "TrainingArguments"]

_FILE = "rng_state_dl.pt"


@dataclass
class TrainingArguments(transformers.TrainingArguments):  # type: ignore[misc]
    """``transformers.TrainingArguments`` that accept ``bf16=True`` on dl.

    The class of transformers has a list of devices that support bfloat16, and rejects all others.
    """

    def _validate_args(self) -> None:
        wanted = self.bf16, self.bf16_full_eval  # type: ignore[has-type]
        if is_there() and dl().is_bf16_supported() and not (self.fp16 and wanted[0]):
            self.bf16 = self.bf16_full_eval = False
        try:
            super()._validate_args()
        finally:
            self.bf16, self.bf16_full_eval = wanted


class Trainer(transformers.Trainer):  # type: ignore[misc]
    """``transformers.Trainer`` that accepts ``fp16=True`` on dl, which accelerate rejects."""

    def create_accelerator_and_postprocess(self) -> None:
        wanted = self.args.mixed_precision
        ours = wanted == "fp16" and self.args.device.type == "dl"
        if ours:
            self.args.mixed_precision = "no"
        try:
            super().create_accelerator_and_postprocess()
        finally:
            self.args.mixed_precision = wanted
        if ours:
            use_float16(self.accelerator)


class RandomStateCallback(TrainerCallback):  # type: ignore[misc]
    """Callback that saves the states of dl's random generators in the Trainer's checkpoints, so
    that resumed training draws the same random numbers: ``Trainer(callbacks=[...])``.

    The Trainer itself saves only the generator states of the devices on its list.
    """

    def __init__(self) -> None:
        self._first_step = False

    def on_save(
        self,
        args: transformers.TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        folder = _checkpoint(args, state)
        if folder.is_dir():
            torch.save(RandomState().state_dict(), folder / _FILE)

    def on_train_begin(
        self,
        args: transformers.TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        self._first_step = state.global_step > 0

    def on_step_begin(
        self,
        args: transformers.TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **kwargs: Any,
    ) -> None:
        # The Trainer restores its own random states at this point.
        if self._first_step and (path := _checkpoint(args, state) / _FILE).exists():
            RandomState().load_state_dict(torch.load(path, weights_only=True))
        self._first_step = False


def _checkpoint(args: transformers.TrainingArguments, state: TrainerState) -> Path:
    return Path(args.output_dir) / f"checkpoint-{state.global_step}"

"""Program that asks frameworks for CUDA or any device, and prints the devices that were used."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import accelerate
import lightning
import safetensors.torch
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

CONFIG = transformers.LlamaConfig(
    vocab_size=8,
    hidden_size=16,
    intermediate_size=32,
    num_hidden_layers=1,
    num_attention_heads=2,
    num_key_value_heads=2,
)


class Module(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.seen: set[str] = set()

    def training_step(self, batch: torch.Tensor, _: int) -> torch.Tensor:
        self.seen |= {batch.device.type, self.layer.weight.device.type}
        return self.layer(batch).mean()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def tokenizer() -> transformers.PreTrainedTokenizerFast:
    words = Tokenizer(models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="?", pad_token="?"
    )


def by_lightning(folder: str) -> str:
    module = Module()
    trainer = lightning.Trainer(
        accelerator="auto",
        devices=1,
        max_epochs=1,
        precision="bf16-mixed",
        default_root_dir=folder,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, torch.utils.data.DataLoader(torch.ones(4, 4)))
    return "+".join(sorted(module.seen))


def places(folder: str) -> dict[str, Any]:
    model = transformers.LlamaForCausalLM(CONFIG)
    model.save_pretrained(folder)
    file = Path(folder) / "model.safetensors"
    loaded = transformers.LlamaForCausalLM.from_pretrained(folder, device_map="auto")
    pipe = transformers.pipeline("text-generation", model=model, tokenizer=tokenizer(), device=0)
    assert pipe("a b", max_new_tokens=2)
    arguments = transformers.TrainingArguments(output_dir=folder, report_to=[], bf16=True)
    tensors = safetensors.torch.load_file(file, device="cuda")
    return {
        "Accelerator()": accelerate.Accelerator().device.type,
        "device_map": loaded.device.type,
        "pipeline": pipe.model.device.type,
        "TrainingArguments": arguments.device.type,
        "safetensors": next(iter(tensors.values())).device.type,
        "lightning": by_lightning(folder),
    }


def main() -> None:
    os.environ.pop("ACCELERATE_TORCH_DEVICE", None)
    with tempfile.TemporaryDirectory() as folder:
        for name, place in places(folder).items():
            print(name, place)


if __name__ == "__main__":
    main()

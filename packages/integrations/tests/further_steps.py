"""First steps with packages that are not requirements of the tests; see :mod:`first_steps`."""

from __future__ import annotations

from step import Step

_PEFT = """
import sys
import torch
from peft import AutoPeftModelForCausalLM, LoraConfig, get_peft_model
from torch.utils.data import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


class Words(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        words = torch.arange(index, index + 6) % 8
        return {"input_ids": words, "labels": words}


folder = sys.argv[1]
config = LlamaConfig(
    hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16, vocab_size=8
)
base = f"{folder}/base"
LlamaForCausalLM(config).save_pretrained(base)
model = get_peft_model(
    LlamaForCausalLM.from_pretrained(base),
    LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"),
)
frozen = model.base_model.model.lm_head.weight.clone()
arguments = TrainingArguments(
    output_dir=folder, max_steps=3, save_strategy="no", report_to=[], learning_rate=0.1
)
Trainer(model, arguments, train_dataset=Words()).train()
assert torch.equal(model.base_model.model.lm_head.weight.cpu(), frozen.cpu())
assert any(x.abs().sum() > 0 for name, x in model.named_parameters() if "lora_B" in name)
model.save_pretrained(f"{folder}/adapter")
loaded = AutoPeftModelForCausalLM.from_pretrained(f"{folder}/adapter", device_map="auto")
tokens = loaded.generate(input_ids=torch.tensor([[1, 2]], device=loaded.device), max_new_tokens=2)
print(next(model.parameters()).device)
print(tokens.device)
"""
_SENTENCES = """
import sys
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

words = Tokenizer(models.WordLevel({"[UNK]": 0, "[PAD]": 1, "good": 2}, unk_token="[UNK]"))
words.pre_tokenizer = pre_tokenizers.Whitespace()
config = BertConfig(
    vocab_size=3, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
)
BertModel(config).save_pretrained(sys.argv[1])
PreTrainedTokenizerFast(
    tokenizer_object=words, unk_token="[UNK]", pad_token="[PAD]", model_max_length=16
).save_pretrained(sys.argv[1])

model = SentenceTransformer(sys.argv[1])
vectors = model.encode(["good good", "good"], convert_to_tensor=True)
assert model.similarity(vectors, vectors).shape == (2, 2)
print(vectors.device)
"""
_MMENGINE = """
import sys
import torch
from mmengine.model import BaseModel
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import Dataset


class Block(nn.Module):
    \"\"\"Inverted residual of MobileNet v2.\"\"\"

    def __init__(self, inputs, outputs, stride, expand):
        super().__init__()
        hidden = inputs * expand
        self.residual = stride == 1 and inputs == outputs
        self.layers = nn.Sequential(
            nn.Conv2d(inputs, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(),
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden), nn.ReLU6(),
            nn.Conv2d(hidden, outputs, 1, bias=False), nn.BatchNorm2d(outputs),
        )

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class MobileNet(BaseModel):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), Block(8, 8, 1, 1), Block(8, 16, 2, 6), Block(16, 16, 1, 6),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4),
        )
        self.devices = set()

    def forward(self, images, labels, mode="tensor"):
        self.devices |= {str(images.device), str(self.layers[0].weight.device)}
        scores = self.layers(images)
        if mode == "loss":
            return {"loss": nn.functional.cross_entropy(scores, labels)}
        return scores


class Images(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return torch.rand(3, 32, 32, generator=torch.Generator().manual_seed(index)), index % 4


runner = Runner(
    MobileNet(), sys.argv[1], train_dataloader=dict(
        dataset=Images(), batch_size=4, sampler=dict(type="DefaultSampler", shuffle=True),
        collate_fn=dict(type="default_collate")),
    train_cfg=dict(by_epoch=True, max_epochs=2),
    optim_wrapper=dict(optimizer=dict(type="SGD", lr=0.1, momentum=0.9)),
    custom_hooks=[dict(type="ProfilerHook", by_epoch=False, profile_times=3,
                       activity_with_cpu=True, activity_with_cuda=True,
                       on_trace_ready=dict(type="log_trace", sort_by="self_cpu_time_total"))],
    log_level="WARNING",
)
runner.train()
print(*sorted(runner.model.devices))
"""
_DIFFUSERS = """
import sys
import torch
from diffusers import DDPMPipeline, DDPMScheduler, UNet2DModel

torch.manual_seed(0)
model = UNet2DModel(
    sample_size=16, layers_per_block=1, block_out_channels=(32, 64),
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
)
DDPMPipeline(model, DDPMScheduler(num_train_timesteps=10)).save_pretrained(sys.argv[1])


def images(device):
    pipeline = DDPMPipeline.from_pretrained(sys.argv[1]).to(device)
    generator = torch.Generator("cpu").manual_seed(1)
    return pipeline, pipeline(generator=generator, num_inference_steps=3, output_type="np").images


pipeline, made = images(torch.accelerator.current_accelerator())
assert abs(made - images("cpu")[1]).max() < 1e-5
optimizer = torch.optim.AdamW(pipeline.unet.parameters(), lr=1e-3)
x = torch.randn(2, 3, 16, 16, device=pipeline.device)
steps = torch.tensor([1, 7], device=pipeline.device)
noise = torch.randn_like(x)
noisy = pipeline.scheduler.add_noise(x, noise, steps)
losses = []
for _ in range(3):
    loss = (pipeline.unet(noisy, steps).sample - noise).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
print(loss.device)
"""
_DEEPSPEED = """
import deepspeed
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
config = {
    "train_micro_batch_size_per_gpu": 4,
    "optimizer": {"type": "AdamW", "params": {"lr": 0.01, "torch_adam": True}},
    "zero_optimization": {"stage": STAGE},
    "bf16": {"enabled": True},
}
engine, *_ = deepspeed.initialize(
    model=model, model_parameters=model.parameters(), config=config
)
x = torch.rand(4, 8, device=engine.device, dtype=torch.bfloat16)
labels = torch.tensor([0, 1, 0, 1], device=engine.device)
for _ in range(3):
    loss = nn.functional.cross_entropy(engine(x).float(), labels)
    engine.backward(loss)
    engine.step()
print(loss.device)
"""


def deepspeed(stage: int) -> Step:
    """Return a step with DeepSpeed's optimizer of a ZeRO stage, in two processes."""
    return Step(
        f"deepspeed_{stage}",
        "deepspeed",
        f"`torchrun --nproc-per-node 2 train.py`: `deepspeed.initialize(...)`, ZeRO-{stage}",
        _DEEPSPEED.replace("STAGE", str(stage)),
        ("-m", "torch.distributed.run", "--nproc-per-node", "2"),
        2,
        tested="0.19.8",
    )


FURTHER = [
    Step(
        "peft",
        "peft",
        "`get_peft_model(model, LoraConfig(...))`, `Trainer(...).train()`",
        _PEFT,
        tested="0.21.2",
    ),
    Step(
        "sentence_transformers",
        "sentence-transformers",
        "`SentenceTransformer(name).encode(...)`",
        _SENTENCES,
        tested="6.2.0",
    ),
    Step(
        "mmengine",
        "mmengine",
        "`Runner(...).train()` with `ProfilerHook`, layers of MobileNet v2",
        _MMENGINE,
        tested="0.10.7",
    ),
    Step(
        "diffusers",
        "diffusers",
        "`DDPMPipeline.from_pretrained(name).to(torch.accelerator.current_accelerator())`, images "
        "and training steps",
        _DIFFUSERS,
        tested="0.42.1",
    ),
    deepspeed(1),
    deepspeed(2),
]

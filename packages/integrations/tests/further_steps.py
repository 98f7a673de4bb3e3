"""First steps with packages that are not requirements of the tests; see :mod:`first_steps`."""

from __future__ import annotations

from step import Step

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
FURTHER = [
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
]

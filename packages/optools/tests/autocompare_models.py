"""Five small models, and training steps of them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn


class Decoder(nn.Module):
    """One decoder block with tokens as input and the next tokens' logits as output."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 16)
        self.project = nn.Linear(16, 48, bias=False)
        self.norms = nn.ModuleList([nn.RMSNorm(16), nn.LayerNorm(16)])
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)
        self.head = nn.Linear(16, 11)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        rows, length, width = x.shape
        q, k, v = (
            part.view(rows, length, 2, width // 2).transpose(1, 2)
            for part in self.project(self.norms[0](x)).chunk(3, -1)
        )
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + attended.transpose(1, 2).reshape(rows, length, width)
        x = x + self.down(nn.functional.silu(self.up(self.norms[1](x))))
        out: torch.Tensor = self.head(x)
        return out


class Recurrent(nn.Module):
    """Two recurrent layers and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 8, num_layers=2, batch_first=True)
        self.head = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        states, _ = self.lstm(x)
        out: torch.Tensor = self.head(states[:, -1])
        return out


def _mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(10, 24), nn.GELU(), nn.Dropout(0.1), nn.Linear(24, 4))


def _cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(2, 6, 3, padding=1),
        nn.BatchNorm2d(6),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 8, 3, groups=2),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 4),
    )


def _encoder() -> nn.Module:
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
    return nn.Sequential(
        nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(16, 4)
    )


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "mlp": (_mlp, (5, 10)),
    "cnn": (_cnn, (3, 2, 10, 10)),
    "encoder": (_encoder, (2, 5, 16)),
    "decoder": (Decoder, (2, 7)),
    "lstm": (Recurrent, (3, 4, 6)),
}


def trained(name: str, device: str, dtype: torch.dtype, steps: int = 2) -> Callable[[], None]:
    """Return a function that trains a new model for some steps on fixed data."""
    make, shape = MODELS[name]
    torch.manual_seed(0)
    model = make().to(dtype).to(device)
    generator = torch.Generator().manual_seed(0)
    if name == "decoder":
        data = torch.randint(11, shape, generator=generator)
        targets = torch.randint(11, shape, generator=generator)
    else:
        data = torch.randn(shape, generator=generator).to(dtype)
        targets = torch.randint(
            4, shape[:2] if name == "encoder" else shape[:1], generator=generator
        )
    data, targets = data.to(device), targets.to(device)
    optimizer = (
        torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
        if name == "cnn"
        else torch.optim.AdamW(model.parameters(), 1e-3, eps=1e-4)
    )

    def run() -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            logits = model(data)
            loss = nn.functional.cross_entropy(logits.flatten(0, -2).float(), targets.flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

    return run

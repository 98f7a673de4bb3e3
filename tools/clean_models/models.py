"""The models, their data, and how each is trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  (the usual name)
from torch import nn
from torch.utils.checkpoint import checkpoint

Tensor = torch.Tensor
Loss = Callable[[Any, Tensor], Tensor]


class UNet(nn.Module):
    """One downsampling and one upsampling step, with a skip connection."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU())
        self.middle = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.Dropout2d(0.2))
        self.up = nn.ConvTranspose2d(8, 8, 2, stride=2)
        self.out = nn.Conv2d(16, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        skip = self.down(x)
        x = self.up(self.middle(F.max_pool2d(skip, 2)))
        out: Tensor = self.out(torch.cat([x, skip], 1))
        return out


class ViT(nn.Module):
    """Patches, a class token, and encoder layers with activation checkpointing."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 32, 4, stride=4)
        self.token = nn.Parameter(torch.zeros(1, 1, 32))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True, norm_first=True)
            for _ in range(2)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.to(x.dtype).expand(x.shape[0], -1, -1), x], 1)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False)
        return x[:, 0]


class Decoder(nn.Module):
    """Causal attention, RMS norm, a gated layer, tied weights."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(19, 16)
        self.qkv, self.norms = nn.Linear(16, 48), nn.ModuleList([nn.RMSNorm(16), nn.RMSNorm(16)])
        self.gate, self.up, self.down = nn.Linear(16, 32), nn.Linear(16, 32), nn.Linear(32, 16)

    def block(self, x: Tensor) -> Tensor:
        rows, length, width = x.shape
        parts = self.qkv(self.norms[0](x)).view(rows, length, 3, 2, width // 2)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + mixed.transpose(1, 2).flatten(2)
        y = self.norms[1](x)
        out: Tensor = x + self.down(F.silu(self.gate(y)) * self.up(y))
        return out

    def forward(self, tokens: Tensor) -> Tensor:
        x = checkpoint(self.block, self.embedding(tokens), use_reentrant=False)
        return F.linear(x, self.embedding.weight)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.cells = nn.Embedding(19, 12), nn.LSTM(12, 16, 2, batch_first=True)
        self.head = nn.Linear(16, 5)

    def forward(self, tokens: Tensor) -> Tensor:
        out: Tensor = self.head(self.cells(self.embedding(tokens))[0].mean(1))
        return out


class Variational(nn.Module):
    """A variational autoencoder, which samples its code."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = nn.Linear(20, 12), nn.Linear(6, 20)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        mean, spread = self.encoder(x).tanh().chunk(2, -1)
        code = mean + torch.randn_like(mean) * (spread / 2).exp()
        return self.decoder(code), mean, spread


class Experts(nn.Module):
    """Mixture of experts: the router sends each row to its two best experts."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(12, 4)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(12, 24), nn.GELU(), nn.Linear(24, 12)) for _ in range(4)
        )

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.router(x).softmax(-1).topk(2, -1)
        out = torch.zeros_like(x)
        for at, expert in enumerate(self.experts):
            rows, place = (chosen == at).nonzero(as_tuple=True)
            out = out.index_add(0, rows, (expert(x[rows]) * weights[rows, place, None]).to(x.dtype))
        return out


class GraphNet(nn.Module):
    """Means over the neighbors of each node."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(10, 16), nn.Linear(16, 5)
        self.norm = nn.LayerNorm(16)
        edges = torch.stack([torch.arange(40) % 12, (torch.arange(40) * 7 + 3) % 12])
        self.register_buffer("edges", edges)

    def spread(self, x: Tensor) -> Tensor:
        source, target = self.edges  # type: ignore[misc]
        total = torch.zeros_like(x).index_add(0, target, x[source])
        count = torch.zeros(x.shape[0], 1, dtype=x.dtype, device=x.device)
        return total / count.index_add(0, target, torch.ones_like(x[source][:, :1])).clamp(min=1)

    def forward(self, x: Tensor) -> Tensor:
        x = F.leaky_relu(self.norm(self.spread(self.first(x))), 0.1)
        return self.spread(self.second(F.dropout(x, 0.2, self.training)))


def mlp() -> nn.Module:
    return nn.Sequential(
        nn.Linear(10, 24), nn.BatchNorm1d(24), nn.GELU(), nn.Dropout(0.3), nn.Linear(24, 5)
    )


def cnn() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(3, 12, 3, padding=1, bias=False), nn.BatchNorm2d(12), nn.ReLU()),
        *(nn.MaxPool2d(2), nn.Conv2d(12, 16, 3, groups=2), nn.Hardswish()),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5)),
    )


def classes(out: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(out.float().flatten(0, -2), target.flatten())


def squares(out: Tensor, target: Tensor) -> Tensor:
    return F.mse_loss(out.float(), torch.ones_like(out, dtype=torch.float32))


def likelihood(out: tuple[Tensor, Tensor, Tensor], target: Tensor) -> Tensor:
    seen, mean, spread = (x.float() for x in out)
    wanted = torch.full_like(seen, 0.25)
    divergence = (mean.square() + spread.exp() - 1 - spread).sum(-1).mean() / 2
    return F.binary_cross_entropy_with_logits(seen, wanted) + 0.1 * divergence


@dataclass(frozen=True)
class Case:
    """One model.

    :ivar shape: shape of the data.
    :ivar tokens: True if the data are token ids.
    :ivar targets: shape of the targets, which are class indices.
    :ivar optimizer: function that creates the optimizer for the parameters.
    """

    make: Callable[[], nn.Module]
    shape: tuple[int, ...]
    loss: Loss
    targets: tuple[int, ...]
    optimizer: Callable[[Any], torch.optim.Optimizer]
    tokens: bool = False


def adamw(foreach: bool | None = None) -> Callable[[Any], torch.optim.Optimizer]:
    return lambda x: torch.optim.AdamW(x, lr=1e-2, foreach=foreach)


CASES: dict[str, Case] = {
    "mlp": Case(mlp, (16, 10), classes, (16,), adamw(True)),
    "cnn": Case(
        cnn,
        (4, 3, 12, 12),
        classes,
        (4,),
        lambda x: torch.optim.SGD(x, lr=0.05, momentum=0.9, foreach=True),
    ),
    "unet": Case(UNet, (3, 2, 8, 8), squares, (1,), adamw()),
    "vit": Case(ViT, (3, 3, 16, 16), squares, (1,), adamw(False)),
    "decoder": Case(Decoder, (3, 7), classes, (3, 7), adamw(), tokens=True),
    "recurrent": Case(
        Recurrent, (4, 6), classes, (4,), lambda x: torch.optim.Adam(x, lr=1e-2), tokens=True
    ),
    "encoder": Case(
        lambda: nn.TransformerEncoderLayer(32, 4, 64, dropout=0, batch_first=True, norm_first=True),
        (4, 17, 32),
        lambda out, _: out[:, 0].float().square().sum(),
        (1,),
        adamw(True),
    ),
    "variational": Case(Variational, (8, 20), likelihood, (1,), adamw()),
    "experts": Case(
        Experts,
        (16, 12),
        squares,
        (1,),
        lambda x: torch.optim.SGD(x, lr=0.1, nesterov=True, momentum=0.8, foreach=True),
    ),
    "graph": Case(
        GraphNet, (12, 10), classes, (12,), lambda x: torch.optim.RMSprop(x, 1e-3, foreach=True)
    ),
}

MODES = ("float32", "bfloat16", "autocast")


class Training:
    """Training of one model on a device, from fixed seeds; :meth:`step` runs one step."""

    def __init__(self, name: str, mode: str, device: str, seed: int = 1) -> None:
        case = self.case = CASES[name]
        torch.manual_seed(0)
        model, data = case.make(), torch.randn(case.shape)
        if case.tokens:
            data = torch.randint(0, 19, case.shape)
        elif mode == "bfloat16":
            data = data.bfloat16()
        self.model = (model.bfloat16() if mode == "bfloat16" else model).to(device)
        self.data, self.target = data.to(device), torch.randint(0, 5, case.targets).to(device)
        self.optimizer = case.optimizer(self.model.parameters())
        self._device, self._mixed = device, mode == "autocast"
        torch.manual_seed(seed)

    def step(self) -> float:
        self.optimizer.zero_grad()
        with torch.autocast(self._device, torch.bfloat16, enabled=self._mixed):
            out = self.model(self.data)
        loss = self.case.loss(out, self.target)
        torch.autograd.backward([loss])
        self.optimizer.step()
        return float(loss.detach())

"""Models that generate images: diffusion, variational autoencoder, and GAN."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from ..one_step import Batch
from ..small_steps import Autoencoder
from .family import Family

ROWS, SIZE, CODE, STEPS = 4, 16, 8, 50


def pictures() -> Batch:
    return {"inputs": torch.rand(ROWS, 3, SIZE, SIZE)}


def reconstruct(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    images = model(batch["inputs"])
    return functional.mse_loss(images, batch["inputs"]), images


class Block(nn.Module):
    """Two convolutions with a time embedding: images (rows, before, h, w), times (rows, 32)."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.norm, self.norm_again = nn.GroupNorm(4, before), nn.GroupNorm(4, after)
        self.first = nn.Conv2d(before, after, 3, padding=1)
        self.second = nn.Conv2d(after, after, 3, padding=1)
        self.time = nn.Linear(32, after)
        self.around = nn.Conv2d(before, after, 1)

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        y = self.first(functional.silu(self.norm(x))) + self.time(time)[:, :, None, None]
        return self.second(functional.silu(self.norm_again(y))) + self.around(x)


class Attention(nn.Module):
    """Self-attention over the positions of an image: (rows, channels, h, w) -> the same."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(4, channels)
        self.inward, self.outward = (
            nn.Conv2d(channels, 3 * channels, 1),
            nn.Conv2d(channels, channels, 1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.inward(self.norm(x)).flatten(2).transpose(1, 2).chunk(3, dim=-1)
        seen = functional.scaled_dot_product_attention(*heads)
        return x + self.outward(seen.transpose(1, 2).reshape(x.shape))


class UNet(nn.Module):
    """Prediction of the noise in images (rows, 3, SIZE, SIZE) at times (rows,): the same shape."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 32))
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.down, self.middle = Block(width, width), Block(width, 2 * width)
        self.smaller = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.attention = Attention(2 * width)
        self.larger = nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1)
        self.up = Block(2 * width, width)
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, images: torch.Tensor, times: torch.Tensor) -> torch.Tensor:
        rates = torch.exp(-torch.arange(8, device=times.device, dtype=images.dtype))
        angles = times[:, None] * rates
        time = self.time(torch.cat([angles.sin(), angles.cos()], dim=1))
        fine = self.down(self.first(images), time)
        coarse = self.attention(self.middle(self.smaller(fine), time))
        return self.last(self.up(torch.cat([fine, self.larger(coarse)], dim=1), time))


def noisy() -> Batch:
    """Return images, noise to add, and time steps of the diffusion."""
    return pictures() | {
        "noise": torch.randn(ROWS, 3, SIZE, SIZE),
        "times": torch.randint(STEPS, (ROWS,)),
    }


def denoise(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss of the predicted noise, with a linear schedule of variances."""
    noise, times = batch["noise"], batch["times"]
    variances = torch.linspace(1e-4, 0.1, STEPS, device=noise.device)
    kept = (1 - variances).cumprod(0)[times].to(noise.dtype)[:, None, None, None]
    found = model(kept.sqrt() * batch["inputs"] + (1 - kept).sqrt() * noise, times)
    return functional.mse_loss(found, noise), found


class VariationalAutoencoder(nn.Module):
    """Autoencoder with normally distributed codes: (rows, 3, SIZE, SIZE) -> the same."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1),
            nn.SiLU(),
            nn.Flatten(),
            nn.LazyLinear(2 * CODE),
        )
        self.encoder(torch.zeros(1, 3, SIZE, SIZE))
        self.decoder = nn.Sequential(
            nn.Linear(CODE, 8 * 64),
            nn.Unflatten(1, (8, 8, 8)),
            nn.SiLU(),
            nn.ConvTranspose2d(8, 3, 4, stride=2, padding=1),
            nn.Sigmoid(),
        )

    def forward(self, images: torch.Tensor, noise: torch.Tensor) -> tuple[torch.Tensor, ...]:
        mean, logarithm = self.encoder(images).chunk(2, dim=1)
        return self.decoder(mean + noise * (logarithm / 2).exp()), mean, logarithm


def coded() -> Batch:
    return pictures() | {"noise": torch.randn(ROWS, CODE)}


def evidence(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the negative evidence lower bound."""
    images, mean, logarithm = model(batch["inputs"], batch["noise"])
    wrong = functional.binary_cross_entropy(images, batch["inputs"])
    divergence = (mean.square() + logarithm.exp() - 1 - logarithm).mean() / 2
    return wrong + 0.1 * divergence, images


class Adversaries(nn.Module):
    """Generator and critic that are trained together: codes (rows, CODE), images -> scores.

    One step updates both, as two optimizers would: the critic's loss uses the generated images
    without their gradient, and the generator's loss is computed separately.
    """

    def __init__(self) -> None:
        super().__init__()
        self.generator = nn.Sequential(
            nn.Linear(CODE, 8 * 16, bias=False),
            nn.Unflatten(1, (8, 4, 4)),
            nn.BatchNorm2d(8),
            nn.SiLU(),
            nn.ConvTranspose2d(8, 8, 4, stride=2, padding=1),
            nn.SiLU(),
            nn.ConvTranspose2d(8, 3, 4, stride=2, padding=1),
            nn.Tanh(),
        )
        self.critic = nn.Sequential(
            nn.Conv2d(3, 8, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(8, 8, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Linear(8 * 16, 1),
        )


def compete(model: Any, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sum of the losses of the critic and of the generator."""
    made = model.generator(batch["noise"])
    right, wrong = (torch.ones_like, torch.zeros_like)
    judge = functional.binary_cross_entropy_with_logits
    true, false = model.critic(batch["inputs"]), model.critic(made.detach())
    telling = judge(true, right(true)) + judge(false, wrong(false))
    weights = {name: weight.detach() for name, weight in model.critic.named_parameters()}
    opinion = torch.func.functional_call(model.critic, weights, made)
    return telling + judge(opinion, right(opinion)), made


FAMILIES = [
    Family("Autoencoder", Autoencoder, pictures, reconstruct, rate=5e-3),
    Family("Variational autoencoder", VariationalAutoencoder, coded, evidence, rate=5e-3),
    Family("GAN", Adversaries, coded, compete),
    Family("U-Net diffusion", UNet, noisy, denoise, rate=5e-3),
]

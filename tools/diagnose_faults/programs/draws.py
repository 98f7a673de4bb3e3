"""Random numbers of a simulation: generated on the device, from one seed."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  (the usual name)


def main() -> None:
    torch.manual_seed(0)
    device = torch.accelerator.current_accelerator()
    total = torch.zeros((), device=device)
    for _ in range(5):
        x = torch.empty(600, device=device)
        total += x.normal_(1.0, 0.5).mean() + x.uniform_(-1, 3).mean() + x.bernoulli_(0.3).mean()
        total += torch.randn(500, device=device).square().mean()
        total += torch.rand(500, device=device).mean() + x.exponential_(2.0).mean()
        total += torch.randint(0, 7, (400,), device=device).float().mean()
        total += torch.randperm(300, device=device).float().mean()
        chosen = torch.multinomial(torch.tensor([0.2, 0.3, 0.5], device=device), 400, True)
        total += chosen.float().mean()
        kept = F.dropout(torch.ones(500, device=device, requires_grad=True), 0.25)
        kept.sum().backward()
        total += kept.mean()
        total += torch.bernoulli(torch.full((300,), 0.4, device=device)).mean()
        print("total", total.item(), flush=True)


main()

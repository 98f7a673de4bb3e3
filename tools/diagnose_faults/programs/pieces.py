"""Many small operations: selection, sorting, scans, norms, and their gradients."""

from __future__ import annotations

import torch


def main() -> None:
    torch.manual_seed(0)
    device = torch.accelerator.current_accelerator()
    for step in range(5):
        x = (torch.randn(9, 33) * 2).to(device).requires_grad_()
        rows = torch.randint(0, 9, (20,)).to(device)
        largest, where = x.topk(5, dim=1)
        score = largest.sum() + x.sort(dim=1).values[:, 3].mean() + x.gather(1, where).std()
        score = (
            score + x.cumsum(1).amax() + torch.logsumexp(x, 1).sum() + x.index_select(0, rows).var()
        )
        score = score + x.max(dim=1).values.mean() + (x.argmax(1) * x[:, 0]).sum()
        score = (
            score
            + torch.where(x > 0, x.sqrt().nan_to_num(), x.exp()).sum()
            + x.abs().pow(1.5).sum()
        )
        score = score + x.clamp(-1, 1).sum() + x.masked_fill(x > 1, 0.5).norm() + x.erf().sum()
        score = (
            score
            + torch.cat([x, x.t().contiguous().t()], 1).sin().sum()
            + (x * x + 1).rsqrt().sum()
        )
        score = score + (x.abs() + 0.5).log().sum() + x.div(3).sum() + (1 / (x.square() + 1)).sum()
        added = torch.zeros(9, 33, device=device).index_add(0, rows, x[rows % 9])
        score = score + added.mean() + x.tril().sum() + x.min() + x.prod(1).tanh().sum()
        score.backward()
        poisoned = x.detach().clone()
        poisoned[step % 9, 4] = float("nan")
        peak = poisoned.amax(1)
        print("score", score.item(), int(peak.isnan().sum()), flush=True)


main()

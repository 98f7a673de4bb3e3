"""Train a small model on the device, and report where its operators ran."""

import torch


def train(device: str, steps: int = 20) -> list[float]:
    """Return the losses of a few steps, from the same initial weights on every device."""
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2).to(device)
    data = torch.randn(16, 4).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(data).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    losses = train("dl")
    stats = torch.dl.fallback_stats()
    print(f"{torch.dl.get_device_name()}: loss {losses[0]:.4f} -> {losses[-1]:.4f}")
    print(f"calls on the device: {stats.totals['native']}")
    print(f"calls that fell back to the CPU: {stats.totals['fallback']}")
    for name, entry in sorted(stats.items(), key=lambda each: -each[1]["count"]):
        print(f"  {entry['count']:4} {name}")

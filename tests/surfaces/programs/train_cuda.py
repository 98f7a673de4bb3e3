"""An ordinary CUDA training script. Prints its losses, exactly."""

from __future__ import annotations

import argparse

import torch
from torch import nn
from torch.amp import custom_bwd, custom_fwd
from torch.utils.data import DataLoader, TensorDataset


class Double(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="cuda")
    def forward(ctx, x):
        return x * 2

    @staticmethod
    @custom_bwd(device_type="cuda")
    def backward(ctx, grad):
        return grad * 2


def build(device):
    torch.manual_seed(0)
    torch.cuda.manual_seed_all(0)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Flatten(),
        nn.Linear(4 * 6 * 6, 3),
    ).cuda(device)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-2)


def epoch(model, optimizer, scaler, loader, device, side):
    losses = []
    start = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    start.record()
    for images, labels in loader:
        with torch.cuda.stream(side):
            images = images.cuda(device, non_blocking=True)
            labels = labels.to(device="cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(side)
        images.record_stream(torch.cuda.current_stream())
        assert images.is_cuda and labels.is_cuda
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device_type="cuda", dtype=torch.float16):
            noise = torch.randn(images.shape, device="cuda") * 0.01
            loss = nn.functional.cross_entropy(model(images + noise), labels)
        scaler.scale(Double.apply(loss)).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    end.record()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) >= 0
    return losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", required=True)
    checkpoint = parser.parse_args().checkpoint

    assert torch.cuda.is_available() and torch.cuda.device_count() > 0
    torch.cuda.set_device(0)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = True
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    assert torch.cuda.get_device_name(device) == torch.cuda.get_device_properties(0).name

    numbers = torch.Generator().manual_seed(1)
    images = torch.randn(48, 1, 8, 8, generator=numbers)
    labels = torch.randint(0, 3, (48,), generator=numbers)
    loader = DataLoader(TensorDataset(images, labels), batch_size=16, pin_memory=True)
    side = torch.cuda.Stream()

    model, optimizer = build(device)
    scaler = torch.amp.GradScaler("cuda")
    losses = epoch(model, optimizer, scaler, loader, device, side)
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scaler": scaler.state_dict(),
        "rng": torch.cuda.get_rng_state(),
    }
    torch.save(state, checkpoint)
    straight = epoch(model, optimizer, scaler, loader, device, side)

    model, optimizer = build(device)
    scaler = torch.amp.GradScaler()
    loaded = torch.load(checkpoint, map_location="cuda:0")
    model.load_state_dict(loaded["model"])
    optimizer.load_state_dict(loaded["optimizer"])
    scaler.load_state_dict(loaded["scaler"])
    torch.cuda.set_rng_state(loaded["rng"].cpu())
    assert next(model.parameters()).is_cuda
    assert epoch(model, optimizer, scaler, loader, device, side) == straight

    assert torch.cuda.memory_allocated() > 0
    assert torch.cuda.max_memory_allocated(device) >= torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.empty_cache()
    print(" ".join(value.hex() for value in losses + straight))


if __name__ == "__main__":
    main()

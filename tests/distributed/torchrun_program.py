"""Ordinary script for torchrun, which names no backend."""

import sys

import torch
import torch.distributed as dist

dist.init_process_group()
x = torch.full((2,), float(dist.get_rank() + 1), device="dl")
dist.all_reduce(x)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1, device="dl"))
model(x).sum().backward()
gradient = model.module.weight.grad.tolist()
# A single write, because the other rank writes to the same pipe.
sys.stdout.write(
    f"rank {dist.get_rank()} of {dist.get_world_size()}: {x.tolist()}, gradient {gradient}\n"
)
sys.stdout.flush()
dist.destroy_process_group()

"""An ordinary CUDA script on several processes. The first rank prints the weights, exactly."""

from __future__ import annotations

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main():
    index = int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()
    torch.cuda.set_device(index)
    dist.init_process_group(backend="nccl")
    rank, size = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", index)

    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2).to(device)
    parallel = DistributedDataParallel(model, device_ids=[index], output_device=index)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
    batch = torch.arange(4.0 * 2 * size).view(2 * size, 4).cuda() / 10
    for _ in range(2):
        optimizer.zero_grad()
        parallel(batch[2 * rank : 2 * rank + 2]).square().mean().backward()
        optimizer.step()

    total = torch.tensor(float(rank), device="cuda")
    dist.all_reduce(total)
    assert total.item() == sum(range(size)) and total.is_cuda
    dist.barrier()
    if rank == 0:
        print(" ".join(value.hex() for value in model.weight.flatten().tolist()))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

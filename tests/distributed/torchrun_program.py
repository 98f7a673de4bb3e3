"""Started by torchrun: an ordinary script that names no backend."""

import torch
import torch.distributed as dist

dist.init_process_group()
x = torch.full((2,), float(dist.get_rank() + 1), device="dl")
dist.all_reduce(x)
print(f"rank {dist.get_rank()} of {dist.get_world_size()}: {x.tolist()}", flush=True)
dist.destroy_process_group()

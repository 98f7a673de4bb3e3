"""Programs that train a model on two ranks with each of torch's methods, and return the weights."""

from __future__ import annotations

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import (
    CPUOffloadPolicy,
    FullyShardedDataParallel,
    MixedPrecisionPolicy,
    fully_shard,
)
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel

from .data import DEVICE
from .training import (
    RATE,
    STEPS,
    WIDTH,
    Weights,
    batch,
    loss_of,
    model,
    optimizer_of,
    train,
    weights_of,
)


def my_half() -> tuple[torch.Tensor, torch.Tensor]:
    data, target = batch()
    rank = dist.get_rank()
    return data.chunk(2)[rank].to(DEVICE), target.chunk(2)[rank].to(DEVICE)


def mesh() -> DeviceMesh:
    return init_device_mesh(DEVICE, (2,), mesh_dim_names=("all",))


def ddp(bucket_views: bool = False, hook: bool = False) -> Weights:
    trained = DistributedDataParallel(model().to(DEVICE), gradient_as_bucket_view=bucket_views)
    if hook:
        trained.register_comm_hook(None, default_hooks.bf16_compress_hook)
    train(trained, *my_half())
    return weights_of(trained)


class Choosy(nn.Module):
    """Model whose second branch is unused on rank 1."""

    def __init__(self) -> None:
        super().__init__()
        self.always = nn.Linear(WIDTH, WIDTH)
        self.sometimes = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.always(x)
        return y + self.sometimes(x) if dist.get_rank() == 0 else y


def ddp_with_unused_parameters() -> None:
    torch.manual_seed(0)
    plain = Choosy()
    data, target = my_half()
    trained = DistributedDataParallel(Choosy().to(DEVICE), find_unused_parameters=True)
    trained.module.load_state_dict(plain.state_dict())
    loss_of(trained(data), target).backward()
    unused = trained.module.sometimes.weight.grad
    everybody = [torch.zeros_like(unused) for _ in range(2)]
    dist.all_gather(everybody, unused)
    assert torch.equal(everybody[0], everybody[1]) and everybody[0].abs().max() > 0


def ddp_without_sync() -> None:
    """Accumulate the gradients of two backward passes before they are averaged."""
    data, target = my_half()
    trained = DistributedDataParallel(model().to(DEVICE))
    with trained.no_sync():
        loss_of(trained(data), target).backward()
    alone = next(trained.parameters()).grad.clone()
    both = [torch.zeros_like(alone) for _ in range(2)]
    dist.all_gather(both, alone)
    assert not torch.equal(both[0], both[1]), "no_sync() has synchronised"
    loss_of(trained(data), target).backward()
    together = next(trained.parameters()).grad
    dist.all_gather(both, together)
    assert torch.equal(both[0], both[1])


def fsdp(offload: bool = False, precision: str | None = None) -> Weights:
    trained = model()
    if not offload:
        trained = trained.to(DEVICE)
    options = {"mesh": mesh()}
    if offload:
        options["offload_policy"] = CPUOffloadPolicy()
    if precision is not None:
        options["mp_policy"] = MixedPrecisionPolicy(
            param_dtype=getattr(torch, precision), reduce_dtype=torch.float32
        )
    for block in trained:
        fully_shard(block, **options)
    fully_shard(trained, **options)
    data, target = my_half()
    train(trained, data, target)
    where = {parameter.device.type for parameter in trained.parameters()}
    assert where == {"cpu" if offload else DEVICE}
    if offload:
        return {name: _whole(value).numpy() for name, value in trained.state_dict().items()}
    return weights_of(trained)


def _whole(sharded: DTensor) -> torch.Tensor:
    """Gather a sharded CPU tensor on the device, because its group may have no CPU backend."""
    local = sharded.to_local().to(DEVICE)
    whole = DTensor.from_local(
        local, sharded.device_mesh, sharded.placements, shape=sharded.shape, stride=sharded.stride()
    )
    return whole.full_tensor().cpu()


def tensor_parallel() -> Weights:
    trained = model().to(DEVICE)
    plan = {}
    for number in range(len(trained)):
        plan |= {f"{number}.up": ColwiseParallel(), f"{number}.down": RowwiseParallel()}
    parallelize_module(trained, mesh(), plan)
    data, target = batch()
    train(trained, data.to(DEVICE), target.to(DEVICE))
    return weights_of(trained)


def pipeline() -> Weights:
    """Train with one block per rank and two micro-batches."""
    rank = dist.get_rank()
    stage_model = model()[rank].to(DEVICE)
    device = torch.device(DEVICE, 0)
    stage = PipelineStage(stage_model, rank, 2, device)
    schedule = ScheduleGPipe(stage, n_microbatches=2, loss_fn=loss_of)
    optimizer = optimizer_of(stage_model)
    data, target = batch()
    for _ in range(STEPS):
        optimizer.zero_grad()
        if rank == 0:
            schedule.step(data.to(DEVICE))
        else:
            schedule.step(target=target.to(DEVICE))
        optimizer.step()
    mine = {f"{rank}.{name}": value for name, value in weights_of(stage_model).items()}
    everybody: list[Weights] = [{}, {}]
    dist.all_gather_object(everybody, mine)
    return everybody[0] | everybody[1]


def dtensors() -> None:
    both = mesh()
    whole = torch.arange(24.0).reshape(6, 4)
    sharded = distribute_tensor(whole.to(DEVICE), both, [Shard(0)])
    assert sharded.to_local().shape == (3, 4)
    product = sharded @ sharded.redistribute(both, [Replicate()]).t()
    assert torch.equal(product.full_tensor().cpu(), whole @ whole.t())
    by_columns = sharded.redistribute(both, [Shard(1)])
    assert by_columns.to_local().shape == (6, 2)
    assert torch.equal(by_columns.full_tensor().cpu(), whole)
    assert sharded.sum().full_tensor().item() == whole.sum().item()


def checkpoints(folder: str) -> None:
    """Save a checkpoint in shards, and load it in the same shards, in other shards, and whole."""

    def sharded(seed: int) -> nn.Module:
        made = model()
        torch.manual_seed(seed)
        for parameter in made.parameters():
            nn.init.normal_(parameter)
        made = made.to(DEVICE)
        for block in made:
            fully_shard(block, mesh=mesh())
        return made

    saved = sharded(5)
    checkpoint.save(saved.state_dict(), checkpoint_id=folder)
    wanted = weights_of(saved)
    again = sharded(6)
    state = again.state_dict()
    checkpoint.load(state, checkpoint_id=folder)
    again.load_state_dict(state)
    _assert_equal(weights_of(again), wanted)

    split = parallelize_module(
        model().to(DEVICE), mesh(), {"0.up": RowwiseParallel(), "1.up": ColwiseParallel()}
    )
    state = split.state_dict()
    checkpoint.load(state, checkpoint_id=folder)
    _assert_equal(weights_of(split), wanted)
    whole = model().to(DEVICE)
    state = whole.state_dict()
    checkpoint.load(state, checkpoint_id=folder)
    _assert_equal(weights_of(whole), wanted)


def _assert_equal(got: Weights, wanted: Weights) -> None:
    assert got.keys() == wanted.keys()
    for name, value in got.items():
        assert (value == wanted[name]).all(), name


def fsdp1() -> Weights:
    trained = FullyShardedDataParallel(
        model(), device_id=torch.device(DEVICE, 0), use_orig_params=True
    )
    train(trained, *my_half())
    with FullyShardedDataParallel.summon_full_params(trained):
        return {
            name.replace("_fsdp_wrapped_module.", ""): value.detach().cpu().numpy().copy()
            for name, value in trained.named_parameters()
        }


def sync_batch_norm() -> None:
    """Compare with one batch norm of both parts of the batch, forward and backward, in float64."""
    generator = torch.Generator().manual_seed(3)
    data = torch.randn(6, 4, 5, generator=generator, dtype=torch.float64)
    weights = torch.randn(6, 4, 5, generator=generator, dtype=torch.float64)
    whole = nn.BatchNorm1d(4).double()
    given = data.clone().requires_grad_()
    expected = whole(given)
    (expected * weights).sum().backward()

    part = slice(0, 2) if dist.get_rank() == 0 else slice(2, 6)
    mine = nn.SyncBatchNorm(4).double().to(DEVICE)
    x = data[part].to(DEVICE).requires_grad_()
    y = mine(x)
    (y * weights[part].to(DEVICE)).sum().backward()
    for parameter in mine.parameters():
        dist.all_reduce(parameter.grad)
    for got, wanted in (
        (y, expected[part]),
        (x.grad, given.grad[part]),
        (mine.weight.grad, whole.weight.grad),
        (mine.bias.grad, whole.bias.grad),
        (mine.running_mean, whole.running_mean),
        (mine.running_var, whole.running_var),
    ):
        # Sums of at most 30 products near 1, in another order.
        torch.testing.assert_close(got.cpu(), wanted, rtol=0, atol=30 * 30 * 2**-52)


def sharded_optimizer() -> Weights:
    trained = DistributedDataParallel(model().to(DEVICE))
    optimizer = ZeroRedundancyOptimizer(
        trained.parameters(), torch.optim.SGD, lr=RATE, momentum=0.9
    )
    data, target = my_half()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss_of(trained(data), target).backward()
        optimizer.step()
    return weights_of(trained)


def without_all_reduce() -> Weights:
    """Train as :func:`ddp` does, but without communication between the ranks."""
    trained = model().to(DEVICE)
    train(trained, *my_half())
    return weights_of(trained)

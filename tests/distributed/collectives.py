"""Programs for the ranks: every collective, compared with its definition."""

from __future__ import annotations

import torch
import torch.distributed as dist

from .data import DEVICE, MOVED, REDUCED, SHAPES, everyone, folded, on_dl, same, strided, values


def me() -> int:
    return dist.get_rank()


def empty(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.zeros(shape, dtype=dtype).to(DEVICE)


def all_reduce() -> None:
    for dtype in REDUCED:
        for operation in ("SUM", "AVG", "PRODUCT", "MIN", "MAX"):
            for shape in SHAPES:
                if shape == (0,) and operation in ("MIN", "MAX"):
                    continue
                expected = folded(everyone(shape, dtype), operation)
                for place in (on_dl, strided):
                    x = place(values(me(), shape, dtype))
                    dist.all_reduce(x, getattr(dist.ReduceOp, operation))
                    same(x, expected, (dtype, operation, shape, place.__name__))


def all_reduce_of_special_dtypes() -> None:
    mine = everyone((6,), torch.bool)
    for operation, expected in (
        ("SUM", mine[0] | mine[1]),
        ("MAX", mine[0] | mine[1]),
        ("BOR", mine[0] | mine[1]),
        ("PRODUCT", mine[0] & mine[1]),
        ("MIN", mine[0] & mine[1]),
        ("BAND", mine[0] & mine[1]),
        ("BXOR", mine[0] ^ mine[1]),
    ):
        x = on_dl(mine[me()])
        dist.all_reduce(x, getattr(dist.ReduceOp, operation))
        same(x, expected, operation)
    for dtype in (torch.complex64, torch.complex128):
        for operation in ("SUM", "AVG"):
            x = on_dl(values(me(), (3, 4), dtype) * (1 + 2j))
            dist.all_reduce(x, getattr(dist.ReduceOp, operation))
            same(x, folded(everyone((3, 4), dtype), operation) * (1 + 2j), (dtype, operation))
    numbers = everyone((6,), torch.int32)
    for operation, expected in (
        ("BAND", numbers[0] & numbers[1]),
        ("BOR", numbers[0] | numbers[1]),
        ("BXOR", numbers[0] ^ numbers[1]),
    ):
        x = on_dl(numbers[me()])
        dist.all_reduce(x, getattr(dist.ReduceOp, operation))
        same(x, expected, operation)
    x = on_dl(values(me(), (4,), torch.float32))
    dist.all_reduce(x, dist._make_nccl_premul_sum(0.5))
    same(x, folded(everyone((4,), torch.float32), "SUM") * 0.5, "PREMUL_SUM")


def as_gloo_does() -> None:
    """Compare rounded results bitwise with gloo's results on CPU tensors."""
    generator = torch.Generator().manual_seed(me())
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        for count in (1, 1000, 100_003):
            x = torch.randn(count, generator=generator, dtype=torch.float64).to(dtype)
            for operation in (dist.ReduceOp.SUM, dist.ReduceOp.AVG, dist.ReduceOp.MAX):
                host, device = x.clone(), on_dl(x)
                dist.all_reduce(host, operation)
                dist.all_reduce(device, operation)
                same(device, host, (dtype, count, operation))


def all_reduce_coalesced() -> None:
    tensors = [on_dl(values(me(), shape, torch.float32)) for shape in SHAPES]
    tensors.append(on_dl(values(me(), (7,), torch.int64)))
    dist.all_reduce_coalesced(tensors[:-1])
    with dist._coalescing_manager(async_ops=True) as manager:
        dist.all_reduce(tensors[-1])
    manager.wait()
    for x, shape in zip(tensors[:-1], SHAPES, strict=True):
        same(x, folded(everyone(shape, torch.float32), "SUM"), shape)
    same(tensors[-1], folded(everyone((7,), torch.int64), "SUM"), "coalescing manager")


def broadcast_and_reduce() -> None:
    for dtype in MOVED:
        for root in (0, 1):
            for place in (on_dl, strided):
                x = place(values(me(), (3, 4), dtype))
                dist.broadcast(x, root)
                same(x, values(root, (3, 4), dtype), ("broadcast", dtype, root))
    for dtype in REDUCED:
        x = on_dl(values(me(), (5,), dtype))
        dist.reduce(x, 1, dist.ReduceOp.SUM)
        expected = folded(everyone((5,), dtype), "SUM") if me() == 1 else values(me(), (5,), dtype)
        same(x, expected, ("reduce", dtype))


def all_gather() -> None:
    for dtype in MOVED:
        for shape in SHAPES:
            expected = everyone(shape, dtype)
            for place in (on_dl, strided):
                parts = [place(empty(shape, dtype).cpu()) for _ in expected]
                dist.all_gather(parts, place(values(me(), shape, dtype)))
                for part, wanted in zip(parts, expected, strict=True):
                    same(part, wanted, ("all_gather", dtype, shape))
            if shape:
                whole = empty((2 * shape[0], *shape[1:]), dtype)
                dist.all_gather_into_tensor(whole, on_dl(values(me(), shape, dtype)))
                same(whole, torch.cat(expected), ("all_gather_into_tensor", dtype, shape))
    uneven = [empty((2,), torch.float32), empty((3,), torch.float32)]
    dist.all_gather(uneven, on_dl(values(me(), (2 + me(),), torch.float32)))
    for rank, part in enumerate(uneven):
        same(part, values(rank, (2 + rank,), torch.float32), "uneven all_gather")
    wholes = [empty((4,), torch.float32), empty((6,), torch.float32)]
    with dist._coalescing_manager():
        for whole in wholes:
            shape = (whole.numel() // 2,)
            dist.all_gather_into_tensor(whole, on_dl(values(me(), shape, torch.float32)))
    for whole in wholes:
        shape = (whole.numel() // 2,)
        same(whole, torch.cat(everyone(shape, torch.float32)), "coalesced all_gather")


def reduce_scatter() -> None:
    for dtype in REDUCED:
        for operation in ("SUM", "AVG", "MAX"):
            whole = folded(everyone((4, 3), dtype), operation)
            expected = whole.chunk(2)[me()]
            out = empty((2, 3), dtype)
            op = getattr(dist.ReduceOp, operation)
            given = on_dl(values(me(), (4, 3), dtype))
            dist.reduce_scatter_tensor(out, given, op)
            same(out, expected, ("reduce_scatter_tensor", dtype, operation))
            same(given, values(me(), (4, 3), dtype), "the input of reduce_scatter_tensor")
            out = strided(empty((2, 3), dtype).cpu())
            dist.reduce_scatter(out, [strided(x) for x in given.cpu().chunk(2)], op)
            same(out, expected, ("reduce_scatter", dtype, operation))
    outs = [empty((2,), torch.float32), empty((3,), torch.float32)]
    with dist._coalescing_manager():
        for out in outs:
            shape = (2 * out.numel(),)
            dist.reduce_scatter_tensor(out, on_dl(values(me(), shape, torch.float32)))
    for out in outs:
        whole = folded(everyone((2 * out.numel(),), torch.float32), "SUM")
        same(out, whole.chunk(2)[me()], "coalesced reduce_scatter")


def all_to_all() -> None:
    other = 1 - me()
    for dtype in MOVED:
        given = values(me(), (4, 3), dtype)
        theirs = values(other, (4, 3), dtype)
        expected = [x.chunk(2)[me()] for x in (given, theirs)][:: 1 if me() == 0 else -1]
        for place in (on_dl, strided):
            out = place(empty((4, 3), dtype).cpu())
            dist.all_to_all_single(out, place(given))
            same(out, torch.cat(expected), ("all_to_all_single", dtype))
    # Rank 0 keeps one row and sends three; rank 1 sends two and keeps two.
    sizes = ((1, 3), (2, 2))
    given = values(me(), (4, 3), torch.float32)
    received = [sizes[0][me()], sizes[1][me()]]
    out = empty((sum(received), 3), torch.float32)
    dist.all_to_all_single(out, on_dl(given), received, list(sizes[me()]))
    parts = [values(r, (4, 3), torch.float32).split(list(sizes[r]))[me()] for r in (0, 1)]
    same(out, torch.cat(parts), "uneven all_to_all_single")
    outs = [empty((n, 3), torch.float32) for n in received]
    dist.all_to_all(outs, [on_dl(x) for x in given.split(list(sizes[me()]))])
    for got, wanted in zip(outs, parts, strict=True):
        same(got, wanted, "all_to_all")


def gather_and_scatter() -> None:
    for dtype in MOVED:
        parts = [empty((3,), dtype) for _ in range(2)] if me() == 1 else None
        dist.gather(on_dl(values(me(), (3,), dtype)), parts, dst=1)
        for part, wanted in zip(parts or [], everyone((3,), dtype), strict=False):
            same(part, wanted, ("gather", dtype))
        given = [on_dl(values(r, (3,), dtype)) for r in (0, 1)] if me() == 0 else None
        mine = strided(empty((3,), dtype).cpu())
        dist.scatter(mine, given, src=0)
        same(mine, values(me(), (3,), dtype), ("scatter", dtype))


def messages() -> None:
    other = 1 - me()
    for dtype in MOVED:
        x = strided(values(me(), (3, 4), dtype))
        got = strided(torch.zeros((3, 4)).to(dtype))
        # Both ranks receive first, then send, so that no call may block.
        works = [dist.irecv(got, other), dist.isend(x, other)]
        for work in works:
            work.wait()
        same(got, values(other, (3, 4), dtype), ("messages", dtype))
    x, got = on_dl(values(me(), (4,), torch.float32)), empty((4,), torch.float32)
    for work in dist.batch_isend_irecv(
        [dist.P2POp(dist.isend, x, other), dist.P2POp(dist.irecv, got, other)]
    ):
        work.wait()
    same(got, values(other, (4,), torch.float32), "batch_isend_irecv")
    if me() == 0:
        for tag in (7, 8):
            dist.send(torch.full((2,), float(tag), device=DEVICE), 1, tag=tag)
    else:
        tensors = {tag: empty((2,), torch.float32) for tag in (8, 7)}
        works = [dist.irecv(x, 0, tag=tag) for tag, x in tensors.items()]
        for work in works:
            work.wait()
        assert {tag: x[0].item() for tag, x in tensors.items()} == {7: 7, 8: 8}
    if me() == 0:
        source = dist.recv(got := empty((4,), torch.float32))
        assert source == 1
        same(got, values(1, (4,), torch.float32), "recv from any")
    else:
        dist.send(x, 0)


def objects_and_barriers() -> None:
    everybody: list[object] = [None, None]
    dist.all_gather_object(everybody, {"rank": me()})
    assert everybody == [{"rank": 0}, {"rank": 1}]
    said: list[object] = [me(), "x"]
    dist.broadcast_object_list(said, 1)
    assert said == [1, "x"]
    got: list[object] = [None]
    dist.scatter_object_list(got, ["a", "b"] if me() == 0 else None, 0)
    assert got == ["ab"[me()]]
    dist.barrier()
    dist.barrier(async_op=True).wait()


def futures() -> None:
    x = on_dl(values(me(), (4,), torch.float32))
    work = dist.all_reduce(x, async_op=True)
    future = work.get_future()
    doubled = future.then(lambda done: done.value()[0] * 2)
    expected = folded(everyone((4,), torch.float32), "SUM")
    (value,) = future.wait()
    same(value, expected, "future")
    assert value.data_ptr() == x.data_ptr()
    same(doubled.wait(), expected * 2, "then")
    assert work.wait() and work.is_completed() and work.is_success()
    # Work before and after a call is ordered without synchronization of the host.
    y = on_dl(values(me(), (1 << 16,), torch.float32))
    y.add_(1)
    work = dist.all_reduce(y, async_op=True)
    work.wait()
    y.mul_(2)
    wanted = (folded(everyone((1 << 16,), torch.float32), "SUM") + 2) * 2
    same(y, wanted, "in order")
    works = [dist.all_reduce(on_dl(torch.ones(1000)), async_op=True) for _ in range(20)]
    for each in reversed(works):
        each.wait()


def on_another_stream() -> None:
    """Call on the current stream, which is not the default one."""
    stream = torch.dl.Stream()
    with torch.dl.stream(stream):
        x = on_dl(values(me(), (1000,), torch.float32)) + 1
        dist.all_reduce(x)
        y = x * 2
    stream.synchronize()
    same(y, (folded(everyone((1000,), torch.float32), "SUM") + 2) * 2, "stream")


def cpu_tensors_through_dicl() -> None:
    """Send CPU tensors and objects in a group that has only the backend dicl."""
    group = dist.new_group(backend="dicl")
    x = values(me(), (4,), torch.float32)
    dist.all_reduce(x, group=group)
    assert torch.equal(x, folded(everyone((4,), torch.float32), "SUM"))
    y = on_dl(values(me(), (4,), torch.float32))
    dist.all_reduce(y, group=group)
    same(y, folded(everyone((4,), torch.float32), "SUM"), "dicl alone")
    dist.destroy_process_group(group)


def carried_by(name: str) -> None:
    dist.all_reduce(on_dl(torch.ones(1)))
    backend = dist.distributed_c10d._get_default_group()._get_backend(torch.device(DEVICE))
    assert backend.carrier == name, backend.carrier


def split_groups() -> None:
    """Split a group that is bound to its device, as a mesh does."""
    world = dist.distributed_c10d._get_default_group()
    world.bound_device_id = torch.device(DEVICE, 0)
    try:
        alone = dist.split_group(split_ranks=[[0], [1]])
        x = on_dl(torch.full((3,), float(me())))
        dist.all_reduce(x, group=alone)
        assert x.tolist() == [me()] * 3
        both = dist.split_group(split_ranks=[[0, 1]])
        dist.all_reduce(x, group=both)
        assert x.tolist() == [1] * 3
    finally:
        world.bound_device_id = None


def before_the_stream() -> None:
    """Check that a call returns before its inputs are computed; needs a vendor's communicator."""
    from dl_core import _C
    from dl_vendor_async_test.control import Control

    control = Control(_C.vendor_handle(0))
    dist.all_reduce(on_dl(torch.ones(4)))
    x = on_dl(values(me(), (4,), torch.float32))
    torch.dl.synchronize()
    control.hold(0, 0)
    try:
        x.mul_(2)
        work = dist.all_reduce(x, async_op=True)
        assert not work.is_completed()
        work.wait()
        x.add_(1)
    finally:
        control.release(0, 0)
    same(x, folded(everyone((4,), torch.float32), "SUM") * 2 + 1, "held")

"""Collectives and a DDP step of two ranks: dicl on dl, compared with gloo on CPU tensors.

Both alternate in the same two processes, with one thread each. Times are wall-clock times on rank
0, medians over all calls.

    python benchmarks/collectives.py [--json FILE] [--repeats N]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

RANKS = 2
LIMIT = 1.05
"""Maximum ratio for an all-reduce of 16 MB."""
MEGABYTE = 1 << 18
"""float32 elements."""

Call = Callable[[], object]
Row = dict[str, object]


def collectives(device: str) -> dict[str, tuple[Call, int]]:
    """Return the timed calls, each with the number of calls in a sample."""
    large = torch.ones(16 * MEGABYTE, device=device)
    medium = torch.ones(MEGABYTE, device=device)
    small = torch.ones(1, device=device)
    part = torch.ones(4 * MEGABYTE, device=device)
    whole = torch.empty(8 * MEGABYTE, device=device)
    return {
        "all_reduce 16 MB": (lambda: dist.all_reduce(large), 3),
        "all_reduce 1 MB": (lambda: dist.all_reduce(medium), 20),
        "all_reduce 4 B": (lambda: dist.all_reduce(small), 100),
        "broadcast 16 MB": (lambda: dist.broadcast(large, 0), 3),
        "all_gather_into_tensor 2 x 16 MB": (lambda: dist.all_gather_into_tensor(whole, part), 3),
        "reduce_scatter_tensor 2 x 16 MB": (lambda: dist.reduce_scatter_tensor(part, whole), 2),
    }


def ddp_step(device: str) -> Call:
    """Return a training step of a perceptron of 2.1 million parameters, with 64 rows per rank."""
    torch.manual_seed(0)
    layers = [nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 1024), nn.GELU()]
    model = nn.Sequential(*layers, nn.Linear(1024, 512)).to(device)
    trained = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(trained.parameters(), 0.01)
    data = torch.randn(64, 512).to(device)

    def step() -> None:
        optimizer.zero_grad()
        trained(data).square().mean().backward()
        optimizer.step()

    return step


def seconds(call: Call, count: int) -> list[float]:
    """Return the seconds of each call, including synchronization."""
    dist.barrier()
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        torch.accelerator.synchronize()
        taken.append(time.perf_counter() - start)
    return taken


def serve(pipe: Connection, rank: int, store: str, repeats: int) -> None:
    """Run one rank; rank 0 sends the rows of the table."""
    torch.set_num_threads(1)
    dist.init_process_group(
        "cpu:gloo,dl:dicl", store=dist.FileStore(store, RANKS), rank=rank, world_size=RANKS
    )
    # torch 2.14 has new names too; these exist in both releases.
    import warnings

    warnings.simplefilter("ignore", FutureWarning)
    places = {place: collectives(place) for place in ("cpu", "dl")}
    for place, calls in places.items():
        calls["DDP step"] = (ddp_step(place), 3)
    rows: list[Row] = []
    for name in places["cpu"]:
        times: dict[str, list[float]] = {"cpu": [], "dl": []}
        for repeat in range(repeats + 1):
            for place in ("cpu", "dl"):
                taken = seconds(*places[place][name])
                if repeat > 0:  # the first call connects and allocates
                    times[place].extend(taken)
        gloo, dicl = (statistics.median(times[place]) for place in ("cpu", "dl"))
        rows.append(
            {"what": name, "gloo_us": gloo * 1e6, "dicl_us": dicl * 1e6, "ratio": dicl / gloo}
        )
    dist.barrier()
    pipe.send(rows)
    dist.destroy_process_group()


def measure(repeats: int) -> list[Row]:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "store")
        pipes, processes = [], []
        for rank in range(RANKS):
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(theirs, rank, store, repeats))
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        try:
            rows: list[Row] = pipes[0].recv()
        except EOFError:
            raise SystemExit("a rank has failed; its error is above") from None
        finally:
            for process in processes:
                process.join(30)
                process.kill()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("build/bench/collectives.json"))
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    rows = measure(arguments.repeats)
    print(f"{'':36} {'gloo, CPU':>12} {'dicl, dl':>12} {'ratio':>7}")
    for row in rows:
        print(
            f"{row['what']:36} {row['gloo_us']:>9.0f} us {row['dicl_us']:>9.0f} us"
            f" {row['ratio']:>7.2f}"
        )
    ratio = float(str(rows[0]["ratio"]))
    print(f"all_reduce of 16 MB: {ratio:.2f} of gloo's time, at most {LIMIT}")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    report = {"limit": LIMIT, "device": torch.dl.get_device_name(), "rows": rows}
    arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

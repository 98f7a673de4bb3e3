"""Communication is timed until its completion, and does not block the program."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from dl_optools import OpTimeMeasure
from dl_optools.timing.communication import when_done
from dl_optools.timing.spans import Row


@pytest.fixture(autouse=True)
def group(tmp_path: Path) -> Iterator[None]:
    store = dist.FileStore(str(tmp_path / "store"), 1)
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def timed(tmp_path: Path, level: str, work: object) -> list[Row]:
    tool = OpTimeMeasure(
        device="cpu",
        level=level,
        budget="off",
        roofline=False,
        directory=tmp_path,
        stream=io.StringIO(),
    )
    with tool:
        work()  # type: ignore[operator]
    return [row for row in tool.results.rows if row.operator.startswith("c10d.")]


@pytest.mark.parametrize("level", ["api", "dispatch"])
def test_collectives_are_rows_of_their_own(tmp_path: Path, level: str) -> None:
    tensor = torch.ones(6)

    def work() -> None:
        dist.all_reduce(tensor)
        dist.all_reduce(tensor, async_op=True).wait()
        dist.broadcast(tensor, 0)
        dist.barrier()

    rows = {row.operator: row for row in timed(tmp_path, level, work)}
    assert set(rows) == {
        "c10d.allreduce_.default",
        "c10d.broadcast_.default",
        "c10d.barrier.default",
    }
    reduced = rows["c10d.allreduce_.default"]
    assert (reduced.calls, reduced.shapes) == (2, ((6,),))
    # The time until completion is at least the time of the call itself.
    assert reduced.seconds >= reduced.own > 0
    assert torch.equal(tensor, torch.ones(6))


def test_other_results_have_no_completion() -> None:
    done: list[bool] = []
    assert when_done(torch.ones(1), lambda: done.append(True)) is False
    assert done == []

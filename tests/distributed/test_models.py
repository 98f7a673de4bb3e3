"""Two ranks train to the weights of one process, with each of torch's kinds of parallelism."""

from __future__ import annotations

from pathlib import Path

import pytest

from .ranks import Ranks
from .training import check

pytestmark = pytest.mark.vendor("cpu")  # the ranks select their own vendors

WAYS = {
    "ddp": ("ddp", {}),
    "ddp-bucket-views": ("ddp", {"bucket_views": True}),
    "fsdp": ("fsdp", {}),
    "fsdp-offload": ("fsdp", {"offload": True}),
    "fsdp1": ("fsdp1", {}),
    "sharded-optimizer": ("sharded_optimizer", {}),
    "tensor-parallel": ("tensor_parallel", {}),
    "pipeline": ("pipeline", {}),
}


@pytest.mark.parametrize("way", WAYS)
def test_two_ranks_train_as_one(ranks: Ranks, way: str) -> None:
    program, arguments = WAYS[way]
    for weights in ranks.run(f"models.{program}", **arguments):
        check(weights)


@pytest.mark.parametrize("way", ["ddp-hook", "fsdp-mixed"])
def test_bfloat16_on_the_way(ranks: Ranks, way: str) -> None:
    program, arguments = {
        "ddp-hook": ("ddp", {"hook": True}),
        "fsdp-mixed": ("fsdp", {"precision": "bfloat16"}),
    }[way]
    for weights in ranks.run(f"models.{program}", **arguments):
        check(weights, rounded=True)


def test_ranks_that_do_not_share_gradients_are_noticed(ranks: Ranks) -> None:
    with pytest.raises(AssertionError, match="off by"):
        check(ranks.run("models.without_all_reduce")[0])


@pytest.mark.parametrize(
    "program", ["ddp_with_unused_parameters", "ddp_without_sync", "dtensors", "sync_batch_norm"]
)
def test_program(ranks: Ranks, program: str) -> None:
    ranks.run(f"models.{program}")


def test_checkpoints_are_loaded_in_other_shards(ranks: Ranks, tmp_path: Path) -> None:
    ranks.run("models.checkpoints", folder=str(tmp_path))

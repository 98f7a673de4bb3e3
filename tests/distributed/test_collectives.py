"""Every collective on dl tensors, with each transport."""

from __future__ import annotations

import pytest

from .conftest import CARRIERS, NAMES
from .ranks import RankError, Ranks

pytestmark = pytest.mark.vendor("cpu")  # the ranks select their own vendors

PROGRAMS = (
    "all_reduce",
    "all_reduce_of_special_dtypes",
    "as_gloo_does",
    "all_reduce_coalesced",
    "broadcast_and_reduce",
    "all_gather",
    "reduce_scatter",
    "all_to_all",
    "gather_and_scatter",
    "messages",
    "objects_and_barriers",
    "futures",
    "on_another_stream",
    "cpu_tensors_through_dicl",
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_collective(ranks: Ranks, program: str) -> None:
    ranks.run(f"collectives.{program}")


def test_groups_are_split(ranks: Ranks) -> None:
    ranks.run("collectives.split_groups")


@pytest.mark.parametrize("ranks", ["communicator"], indirect=True)
def test_a_call_returns_before_its_inputs_are_made(ranks: Ranks) -> None:
    ranks.run("collectives.before_the_stream")


@pytest.mark.parametrize("ranks", CARRIERS, indirect=True)
def test_the_carrier_is_the_vendor_where_it_has_a_communicator(
    request: pytest.FixtureRequest, ranks: Ranks
) -> None:
    way = request.node.callspec.params["ranks"]
    ranks.run("collectives.carried_by", name=NAMES.get(way, "gloo"))


def test_communicator_ids_have_any_size() -> None:
    """As long as HCCL's: the vendor checks every byte of the id on each rank."""
    pair = Ranks(DL_VENDORS="async", DL_ASYNC_TEST_ID_BYTES="4108")
    try:
        pair.run("collectives.carried_by", name="async")
        pair.run("collectives.all_reduce")
        pair.run("collectives.split_groups")
    finally:
        pair.close()


def test_wrong_answers_are_noticed(ranks: Ranks) -> None:
    """The comparison in these programs detects a rank that sends other values."""
    with pytest.raises(RankError, match="expected tensor"):
        ranks.run("planted.wrong_sum")

"""Agreement of ranks, simulated by threads with synthetic tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import torch.distributed as dist

from dl_core.torch_backend.agreement import Agreement, Place, agree
from dl_core.tuned_choices import Layers

pytestmark = pytest.mark.vendor("cpu")  # no device is used
FAST, SLOW = {"gemm:1": "fast"}, {"gemm:1": "slow"}
LONG, SHORT = timedelta(seconds=30), timedelta(milliseconds=20)


class Rank:
    """A rank with one device."""

    def __init__(self, own: Mapping[str, str] | None = None, device: str = "gpu") -> None:
        self.own, self.device = Layers(dict(own or {})), device
        self.off, self.refuses, self.alters = False, False, False
        self.table: dict[str, str] | None = None

    def wanted(self) -> bool:
        return not self.off

    def own_tables(self) -> Mapping[str, Layers]:
        return {self.device: self.own}

    def take(self, tables: Mapping[str, Layers]) -> Mapping[str, Layers]:
        table = tables.get(self.device, Layers())
        if table.choices and self.refuses:
            raise ValueError("no such choice")
        if table.choices and self.alters:
            table = Layers(SLOW)
        self.table = table.choices
        return {self.device: table}


def agreed(ranks: Sequence[Rank], store: dist.Store | None = None) -> list[Agreement]:
    shared = store or dist.HashStore()
    with ThreadPoolExecutor(len(ranks)) as pool:
        places = [Place(shared, rank, len(ranks), LONG) for rank in range(len(ranks))]
        return list(pool.map(lambda place, rank: agree(place, "a", rank), places, ranks))


@pytest.mark.parametrize(
    ("own", "used", "by"),
    [
        ((FAST, SLOW, None), FAST, {"gpu": 0}),
        ((None, SLOW, FAST), SLOW, {"gpu": 1}),
        ((None, None, None), {}, {}),
    ],
)
def test_the_first_rank_that_has_any_decides(
    own: Sequence[Mapping[str, str] | None], used: Mapping[str, str], by: Mapping[str, int]
) -> None:
    ranks = [Rank(each) for each in own]
    answers = agreed(ranks)
    assert [rank.table for rank in ranks] == [used] * 3
    assert len(set(map(str, answers))) == 1 and answers[0].ranks == by
    assert answers[0].entries == len(used) and not answers[0].obstacle


def test_other_devices_keep_what_is_theirs(caplog: pytest.LogCaptureFixture) -> None:
    ranks = [Rank(FAST), Rank(None, "other"), Rank(SLOW, "other"), Rank(SLOW), Rank(None, "third")]
    one, two, three, four, five = agreed(ranks)
    assert [rank.table for rank in ranks] == [FAST, SLOW, SLOW, FAST, {}]
    assert one.digest == four.digest != two.digest == three.digest
    assert five.entries == 0 and five.ranks == {"gpu": 0, "other": 2}
    (said,) = caplog.messages
    assert said.startswith("devices differ, and so do tuned choices. ranks 0, 3: 1 of rank 0 (")
    assert "ranks 1, 2: 1 of rank 2" in said and "rank 4: no tuned choices, on third" in said


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("unreadable", "rank 1: my.sqlite: disk I/O error"),
        ("refuses", "rank 1: ValueError: no such choice"),
        ("alters", "ranks 0, 1 have different choices for gpu"),
        ("off", r"rank 1 disables them \(DL_TUNING=off\), but others do not"),
    ],
)
def test_nobody_uses_any_where_one_rank_cannot(
    fault: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    ranks = [Rank(FAST), Rank(FAST)]
    setattr(ranks[1], fault, True)
    if fault == "unreadable":
        ranks[1].own.unreadable.append("my.sqlite: disk I/O error")
    for answer in agreed(ranks):
        assert answer.entries == 0
        assert re.search(said, answer.obstacle)
    assert [rank.table for rank in ranks] == [{}, {}]
    assert len(caplog.messages) == 2
    assert all(line.startswith("no rank uses tuned choices: ") for line in caplog.messages)


def test_nothing_is_said_where_all_leave_them_out(caplog: pytest.LogCaptureFixture) -> None:
    ranks = [Rank(FAST), Rank(FAST)]
    for rank in ranks:
        rank.off = True
    assert agreed(ranks) == [Agreement(), Agreement()]
    assert [rank.table for rank in ranks] == [{}, {}] and not caplog.messages


def test_a_rank_that_does_not_ask_is_named_and_hears_the_same_later() -> None:
    store, ranks = dist.HashStore(), [Rank(FAST), Rank(SLOW)]
    early = agree(Place(store, 0, 2, SHORT), "a", ranks[0])
    assert early.obstacle == "rank 1 did not take part within 0.02 s"
    assert agree(Place(store, 1, 2, LONG), "a", ranks[1]) == early
    assert [rank.table for rank in ranks] == [{}, {}]


def test_a_rank_that_rank_0_does_not_answer_goes_on_and_rank_0_hears_of_it() -> None:
    store, ranks = dist.HashStore(), [Rank(FAST), Rank(SLOW)]
    early = agree(Place(store, 1, 2, SHORT), "a", ranks[1])
    assert early.obstacle == "rank 0 did not answer rank 1 within 0.04 s"
    # All ranks have asked by now, and the decision still holds.
    assert agree(Place(store, 0, 2, LONG), "a", ranks[0]) == early
    assert [rank.table for rank in ranks] == [{}, {}]


def test_a_lost_store_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    class Gone(dist.HashStore):
        def compare_set(self, *_: object) -> bytes:
            raise RuntimeError("connection reset")

    rank = Rank(FAST)
    answer = agree(Place(Gone(), 0, 1, LONG), "a", rank)
    assert answer.obstacle == "RuntimeError: connection reset" and rank.table == {}

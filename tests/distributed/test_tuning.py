"""Ranks that see different databases use the same measured choices, or none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from dl_autotune.operators.model import record_calls
from dl_autotune.runners.database import Database, StoredChoice

from .ranks import Ranks

pytestmark = pytest.mark.vendor("cpu")  # the ranks select their own vendors


class Call(NamedTuple):
    """A matrix product with choices that round differently."""

    identity: str
    key: str
    usual: str
    others: dict[str, str]
    """Results of choices that differ from the result of the default choice."""


@pytest.fixture(scope="module")
def call() -> Call:
    alone = Ranks("gloo", ranks=1, DL_VENDORS="cpu", DL_TUNING="off")
    try:
        ((identity, key, results),) = alone.run("tuned.learned")
    finally:
        alone.close()
    usual, *_ = results.values()
    others = {name: result for name, result in results.items() if result != usual}
    assert others, "all choices give the same bits, so that agreement cannot be observed"
    return Call(identity, key, usual, others)


@pytest.fixture
def start(call: Call, tmp_path: Path) -> Iterator[Callable[[str], Ranks]]:
    """Start two ranks; only the user database of rank 0 has choices."""
    for rank in (0, 1):
        database = Database(tmp_path / f"{rank}.sqlite")
        if rank == 0:
            choice = next(iter(call.others))
            database.choose(StoredChoice(call.identity, call.key, choice, "mm", 1.5, 1.4, 1.6))
        database.close()
    pairs = []

    def run(backend: str) -> Ranks:
        variables = {"DL_VENDORS": "cpu", "DL_TUNING_SITE": str(tmp_path / "none")}
        user = str(tmp_path / "{rank}.sqlite")
        pairs.append(Ranks(backend, DL_TUNING_DATABASE=user, **variables))
        return pairs[-1]

    yield run
    for pair in pairs:
        pair.close()


def test_ranks_of_a_group_use_the_choices_of_one(
    call: Call, start: Callable[[str], Ranks], tmp_path: Path
) -> None:
    pair = start("cpu:gloo,dl:dicl")
    pair.run("tuned.joined")
    # Without an agreement, the first call with choices reads the files.
    database = Database(tmp_path / "0.sqlite")
    database.unchoose(call.identity, [call.key])
    database.close()
    (one, of_one), (two, of_two) = pair.run("tuned.used")
    assert one == two == next(iter(call.others.values()))
    for stats in (of_one, of_two):
        assert (stats["entries"], stats["hits"], stats["from_user_of_rank_0"]) == (1, 1, 1)


def test_ranks_of_other_groups_agree_on_request(
    call: Call, start: Callable[[str], Ranks], tmp_path: Path
) -> None:
    pair = start("gloo")
    # Without an agreement each rank uses its own choices, and the bits differ.
    (one, _), (two, _) = pair.run("tuned.used")
    assert (one, two) == (next(iter(call.others.values())), call.usual)

    answers = pair.run("tuned.agreed")
    assert {used for _, _, used, _ in answers} == {next(iter(call.others.values()))}
    (agreement, _, _, _), (other, _, _, _) = answers
    assert agreement == other
    assert (agreement.entries, agreement.ranks) == (1, {call.identity: 0})

    (tmp_path / "1.sqlite").write_text("no database")
    answers = pair.run("tuned.agreed")
    assert {used for _, _, used, _ in answers} == {call.usual}
    for agreement, said, _, stats in answers:
        assert agreement.obstacle in said[-1] and "1.sqlite: file is not a" in agreement.obstacle
        assert said[-1].startswith("no rank uses tuned choices: rank 1: ")
        assert stats["entries"] == 0


def test_calls_of_all_ranks_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    program = str(Path(__file__).with_name("torchrun_program.py"))
    start = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    calls = record_calls([sys.executable, *start, program], "cpu")
    # Each rank multiplies once.
    ((call, count, _),) = [entry for entry in calls if entry[0].operator.startswith("aten::addmm")]
    assert (count, call.threads) == (2, 1)

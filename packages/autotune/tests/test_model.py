"""``dl tune model`` keeps its choices, or discards them if the program ends with another status."""

from __future__ import annotations

import dataclasses
import signal
from pathlib import Path
from typing import Any

import pytest

import workers

pytest.importorskip("torch", reason="operators are torch's")

from diopi_proto.worker import CommandRun
from dl_autotune import TuningError
from dl_autotune.observers import Claim, Interval, Verdict
from dl_autotune.operators import model
from dl_autotune.operators.call import Call
from dl_autotune.operators.plan import OperatorPlan
from dl_autotune.operators.tuner import TunedCall, ask_child
from dl_autotune.runners.database import Database, StoredChoice, StoredClaim
from dl_autotune.show import show_studies

CALL = Call("mm", ({"shape": [2, 2], "dtype": "float32"},) * 2, {})
OTHER = Call("mm", ({"shape": [3, 3], "dtype": "float32"},) * 2, {})
EARLIER = StoredChoice("this", "gemm:1", "packed", "mm", 1.3, 1.2, 1.4)
CLAIMED = StoredClaim({"gemm:1": "packed"}, "faster", 1.3, 1.2, 1.4, 0.0, ((1.3, 1.3),))
FOUND = Interval(1.5, 1.4, 1.6)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    made = Database(tmp_path / "t.sqlite")
    made.choose(EARLIER)
    made.claim(made.study({"kernel": "operator", "function": str(CALL)}), CLAIMED)
    return made


def tune(call: Call, vendor: str, database: Database, plan: OperatorPlan) -> TunedCall:
    """Store a choice as if another implementation had won."""
    key = "gemm:1" if call is CALL else "gemm:2"
    study = database.study({"kernel": "operator", "function": str(call)})
    before = database.claimed(study)
    races = ((1.5, 1.5),)
    claim = StoredClaim({key: "own"}, "faster", 1.5, 1.4, 1.6, 0.0, races)
    database.claim(study, claim)
    database.choose(StoredChoice("this", key, "own", "mm", 1.5, 1.4, 1.6))
    claimed = Claim(Verdict.FASTER, FOUND)
    keys = {key: ("own", "packed")}
    return TunedCall(call, "this", keys, {key: "own"}, claimed, (), study=study, before=before)


def tuned(
    monkeypatch: pytest.MonkeyPatch, database: Database, ends: dict[str, list[int]]
) -> model.TunedModel:
    """Run a program that ends with these statuses, alternating without choices and with them."""

    def run(_: object, variables: dict[str, str]) -> CommandRun:
        return CommandRun(1.0, ends[variables["DL_TUNING"]].pop(0), "loss 1.5")

    monkeypatch.setattr(model, "run", run)
    monkeypatch.setattr(model, "tune_call", tune)
    calls = [(CALL, 3, 2.0), (OTHER, 3, 1.0)]
    monkeypatch.setattr(model, "record_calls", lambda *_: calls)
    plan = OperatorPlan(10.0, 2, 0)
    return model.tune_model(["x"], "cpu", database, plan, runs=3, say=lambda _: None)


def test_selections_are_kept_if_the_program_ends_as_before(
    monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    found = tuned(monkeypatch, database, {"off": [0] * 3, "on": [0] * 3})
    assert len(found.calls) == 2
    assert {(c.key, c.choice) for c in database.choices()} == {("gemm:1", "own"), ("gemm:2", "own")}


@pytest.mark.parametrize(
    ("off", "on", "message"),
    [
        # The status may also differ in a later pair only.
        ([0, 0, 0], [0, 0, 1], "with the choices the program ends with status 1, not 0"),
        (
            [0, 1, 0],
            [0, 0, 0],
            "does not end the same way twice: without choices it ended with",
        ),
        ([3, 0, 0], [3, 0, 0], "does not end the same way twice"),
    ],
)
def test_selections_are_reverted_if_the_program_ends_otherwise(
    monkeypatch: pytest.MonkeyPatch,
    database: Database,
    capsys: pytest.CaptureFixture[str],
    off: list[int],
    on: list[int],
    message: str,
) -> None:
    with pytest.raises(TuningError, match=message):
        tuned(monkeypatch, database, {"off": off, "on": on})
    # The choices of an earlier run are restored, with its claim.
    assert database.choices() == [EARLIER]
    known, new = database.studies()
    assert database.claimed(known) == CLAIMED
    claimed = database.claimed(new)
    assert claimed is not None and claimed.verdict == "taken back"
    show_studies(None, database)
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith("faster: 1.300 x [1.200, 1.400], gemm=packed")
    assert second.endswith("taken back: 1.500 x [1.400, 1.600]")


def test_nothing_is_measured_if_no_implementation_was_changed(
    monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    monkeypatch.setattr(model, "record_calls", lambda *_: [(CALL, 3, 2.0)])
    monkeypatch.setattr(
        model,
        "tune_call",
        lambda call, *_: TunedCall(call, "this", {"gemm:1": ("own", "packed")}, {}, None, ()),
    )

    def run(*_: object) -> CommandRun:
        raise AssertionError("the program was run")

    monkeypatch.setattr(model, "run", run)
    plan = OperatorPlan(10.0, 2, 0)
    found = model.tune_model(["x"], "cpu", database, plan, runs=3, say=lambda _: None)
    assert found.whole is None
    said = model.format_model(found)
    assert "1 tuned, 0 with another implementation" in said
    assert "program not measured: no implementation was changed" in said
    assert " x [" not in said


def test_what_takes_longer_than_the_budget_is_reported(
    monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    said: list[str] = []
    monkeypatch.setattr(model, "run", lambda *_: CommandRun(1.0, 0, ""))
    monkeypatch.setattr(model, "tune_call", tune)
    monkeypatch.setattr(model, "record_calls", lambda *_: [(CALL, 3, 2.0), (OTHER, 3, 1.0)])
    # Any time is longer than this budget, in which one call is tuned nevertheless.
    plan = OperatorPlan(1e-9, 2, 0)
    found = model.tune_model(["x"], "cpu", database, plan, runs=None, say=said.append)
    assert (len(found.calls), found.left) == (1, 1)
    assert "2 pairs of runs take about" in said[0] and "more than --seconds 1e-09" in said[0]
    assert "instead of --seconds 1e-09" in model.format_model(found)
    wide = OperatorPlan(1e9, 2, 0)
    found = model.tune_model(["x"], "cpu", database, wide, runs=None, say=said.append)
    assert (len(found.calls), found.left, found.overrun) == (2, 0, "")


def test_fewer_pairs_are_run_if_they_do_not_fit_into_half_of_the_budget() -> None:
    assert [model.pairs_within(seconds, 10.0) for seconds in (20, 100, 120, 199, 600)] == [
        *(2, 2, 3, 4, 5)
    ]
    assert model.pairs_within(60.0, 0.0) == 5


@pytest.mark.parametrize(
    ("deed", "given", "message"),
    [
        ("crash", signal.SIGSEGV, "measures failed: the process was ended by SIGSEGV: last words"),
        ("raise", 'no such "kernel', 'measures failed: ValueError: no such "kernel'),
        ("refuse", "[tune] nothing to choose", "[tune] nothing to choose"),
    ],
)
def test_a_process_that_fails_is_an_error_with_its_last_words(
    monkeypatch: pytest.MonkeyPatch, deed: str, given: object, message: str
) -> None:
    monkeypatch.setattr("dl_autotune.operators.tuner._answers", workers.measure)
    job: dict[str, Any] = {"vendor": "cpu", "seconds": 1.0, "do": deed, "given": given}
    with pytest.raises(TuningError) as caught:
        ask_child(job)
    assert str(caught.value).endswith(message)


def test_a_whole_run_that_prints_as_1_000_is_not_a_change() -> None:
    found = model.TunedModel((), 0, Interval(1.001, 1.0004, 1.002), "")
    assert "program no significant change" in model.format_model(found)
    better = dataclasses.replace(found, whole=Interval(1.002, 1.0006, 1.003))
    assert "program faster" in model.format_model(better)

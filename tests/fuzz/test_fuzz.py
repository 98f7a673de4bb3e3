"""A sample of every kind of case, and a check that the runner finds planted bugs."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from . import bugs
from .__main__ import KINDS
from .child import kind_of
from .runner import Runner

# The tested code does not depend on the vendor of the session.
pytestmark = pytest.mark.vendor("cpu")

SEED = "1"
SAMPLE = {"torch_host": 40, "trials": 6, "bundles": 40, "plugins": 25}
OTHERS = 150


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(tmp_path_factory.mktemp("fuzz"), SEED)


@pytest.mark.parametrize("name", KINDS)
def test_no_case_crashes_hangs_or_runs_code(runner: Runner, name: str) -> None:
    kind = kind_of(name)
    cases = SAMPLE.get(name, OTHERS)
    result = runner.run(kind, range(cases))
    told = "\n".join(f"{x.what}: {x.said}\n  again: {x.repeat}" for x in result.failures)
    assert not result.failures, told
    assert result.cases == cases
    assert len(result.ends) > 1, f"all cases end alike, so they try nothing: {result.ends}"


def test_planted_bugs_are_found_and_the_other_cases_done(runner: Runner) -> None:
    result = runner.run(bugs.KIND, range(24))
    assert result.cases == 24
    found = {failure.case: failure for failure in result.failures}
    seen = set()
    for case in range(24):
        bug = bugs.bug_of(random.Random(f"{SEED} bugs {case}"))
        seen.add(bug)
        what = found[case].what if case in found else None
        assert what == bugs.FOUND[bug], (case, bug)
        if bug == "code":
            assert found[case].said == "it ran code"
    assert seen == set(bugs.FOUND)
    assert found[min(found)].repeat.endswith(f"bugs --case {min(found)}")


def test_a_case_can_be_repeated_alone(runner: Runner) -> None:
    number = next(n for n in range(99) if bugs.bug_of(random.Random(f"1 bugs {n}")) == "crash")
    (failure,) = runner.run(bugs.KIND, range(number, number + 1)).failures
    assert failure.case == number and "SIGSEGV" in failure.what
    assert "fault" in failure.said.lower(), "the report says where it crashed"


def test_children_that_never_begin_are_an_error(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "bugs").mkdir()  # not prepared
    with pytest.raises(RuntimeError, match="before their first case"):
        Runner(tmp_path, SEED).run(bugs.KIND, range(2))

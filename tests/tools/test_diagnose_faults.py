"""The table of faults that tools/diagnose_faults seeds into a vendor, and a sample of them.

``tools/nox -s diagnose-faults`` tries the whole table.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from dl_conformance.commit_seed import commit_seed
from dl_vendor_cpu.plugin import dl_vendor
from tools.diagnose_faults.__main__ import all_faults, table
from tools.diagnose_faults.combinations import CONDITIONS as TRIED_CONDITIONS
from tools.diagnose_faults.combinations import combinations
from tools.diagnose_faults.table import (
    ACTIONS,
    CONDITIONS,
    TABLE,
    Fault,
    TableError,
    read,
    verdict,
)
from tools.diagnose_faults.trials import Trial, Trials
from tools.diagnose_faults.vendor import FaultyVendor

FAULTS = read()
# Faults that a single sampled run detects, in short programs.
QUICK = [
    x for x in FAULTS if x.program in ("pieces", "draws") and x.action not in ("third", "first")
]


def test_the_table_is_wide_enough() -> None:
    assert len(FAULTS) >= 60 and len({x.operator for x in FAULTS}) >= 45
    by_chance = Counter(x.action for x in FAULTS if x.action.startswith("racy"))
    assert sum(by_chance.values()) >= 5 and len(by_chance) == 2
    everything = all_faults()
    assert len(everything) >= 200 and len({x.command[0] for x in everything}) >= 6
    assert {x.action for x in everything} | {"abort", "leave"} == ACTIONS
    assert {x.condition for x in everything} == CONDITIONS == set(TRIED_CONDITIONS)


def test_every_action_meets_every_condition_that_makes_sense() -> None:
    tried = Counter((x.action, x.condition) for x in combinations())
    for action in ("add", "scale", "zero", "nan", "stale", "coarse", "crash", "hang", "exit"):
        assert all(tried[action, condition] for condition in CONDITIONS), action


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"operator": "Gelo"}, "the contract has no diopiGelo"),
        ({"argument": 0}, "parameter 0 is not a result"),
        ({"action": "purple"}, "no such action"),
        ({"condition": "at night"}, "no such condition"),
        ({"program": "poem"}, "the program poem.py does not exist"),
    ],
)
def test_a_fault_that_does_not_fit_is_refused(changes: dict[str, object], said: str) -> None:
    gelu = next(x for x in FAULTS if x.operator == "Gelu")
    with pytest.raises(TableError, match=said):
        replace(gelu, **changes)


def test_a_fault_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    row = next(x for x in TABLE.read_text(encoding="utf-8").splitlines() if x.startswith("- "))
    path = tmp_path / "faults.yaml"
    path.write_text(f"{row}\n{row}\n", encoding="utf-8")
    with pytest.raises(TableError, match="is a duplicate"):
        read(path)


def test_verdicts() -> None:
    softmax = next(x for x in FAULTS if x.operator == "Softmax")
    nothing = "No operator was found to be wrong."
    assert verdict(softmax, ["aten._softmax.default"], "") == "named"
    assert verdict(softmax, [], nothing) == "missed"
    assert verdict(softmax, ["aten._softmax.default", "aten.mm.default"], "") == "false"
    assert verdict(softmax, ["aten._log_softmax.default"], "") == "false"
    other = f"{nothing} Not checked: aten.mm.default."
    assert verdict(softmax, [], other) == "missed"
    assert verdict(softmax, [], f"{nothing} Not checked: aten._softmax.default.") == "unchecked"


def test_the_table_counts_what_was_named() -> None:
    fault = FAULTS[0]
    crash = replace(fault, action="crash", condition="thread")
    trials = [Trial(fault, "named", [], "", 1.0), Trial(crash, "missed", [], "", 1.0)]
    lines = table([*trials, Trial(crash, "named", [], "", 1.0)]).splitlines()
    assert lines[0].split() == ["always", "thread"]
    assert lines[1].split() == [fault.action, "1/1"]
    assert lines[2].split() == ["crash", "1/2"]


@pytest.fixture(scope="module")
def chosen() -> Fault:
    """Return a fault that depends on the commit."""
    return random.Random(commit_seed(Path(__file__).parent)).choice(QUICK)


@pytest.fixture(scope="module")
def vendor(chosen: Fault, tmp_path_factory: pytest.TempPathFactory) -> FaultyVendor:
    folder = tmp_path_factory.mktemp("vendor")
    library = Path(dl_vendor().library)
    return FaultyVendor(folder, library, [chosen.function, "diopiSilu"])


def test_a_fault_of_this_commit_is_named(
    chosen: Fault, vendor: FaultyVendor, tmp_path: Path
) -> None:
    trials = Trials(vendor, chosen.command, tmp_path)
    try:
        trial = trials.run(chosen, quick=True)
    finally:
        trials.close()
    assert trial.outcome == "named", f"{chosen}: {trial.accused} {trial.text}"


def test_combinations_of_one_program_are_named(vendor: FaultyVendor, tmp_path: Path) -> None:
    silu = next(x for x in combinations() if (x.operator, x.program) == ("Silu", "inference"))
    faults = [
        replace(silu, action="crash", condition="thread"),
        replace(silu, action="exit", condition="nth"),
        replace(silu, action="off-by-one", condition="shape"),
    ]
    trials = Trials(vendor, silu.command, tmp_path)
    try:
        found = [trials.run(fault, quick=True) for fault in faults]
        clean, struck = trials.diagnose(quick=True)
    finally:
        trials.close()
    assert [x.outcome for x in found] == ["named"] * 3, [(x.accused, x.text) for x in found]
    assert not (struck or clean.guilty or clean.unable)

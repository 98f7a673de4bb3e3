"""The table of faults that tools/diagnose_faults puts into a vendor, and a few of them, by commit.

All of them take half an hour: ``tools/nox -s diagnose-faults``.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from dl_conformance.commit_seed import commit_seed
from dl_vendor_cpu.plugin import dl_vendor
from tools.diagnose_faults.__main__ import try_one
from tools.diagnose_faults.table import KINDS, TABLE, TableError, read, verdict
from tools.diagnose_faults.vendor import FaultyVendor

FAULTS = read()
# Those that one sampled run shows, of programs that are soon done.
QUICK = [x for x in FAULTS if x.program in ("pieces", "draws") and x.kind not in ("stale", "first")]


def test_the_table_is_wide_enough() -> None:
    assert len(FAULTS) >= 60 and len({x.operator for x in FAULTS}) >= 45
    assert {x.kind for x in FAULTS} == KINDS
    by_chance = Counter(x.kind for x in FAULTS if x.kind.startswith("racy"))
    assert sum(by_chance.values()) >= 5 and len(by_chance) == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"operator": "Gelo"}, "the contract has no diopiGelo"),
        ({"argument": 0}, "parameter 0 is no result"),
        ({"kind": "purple"}, "no such kind"),
        ({"program": "poem"}, "there is no program poem.py"),
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
    with pytest.raises(TableError, match="it is there twice"):
        read(path)


def test_verdicts() -> None:
    softmax = next(x for x in FAULTS if x.operator == "Softmax")
    assert verdict(softmax, ["aten._softmax.default"]) == "named"
    assert verdict(softmax, []) == "missed"
    assert verdict(softmax, ["aten._softmax.default", "aten.mm.default"]) == "false"
    assert verdict(softmax, ["aten._log_softmax.default"]) == "false"


def test_a_fault_of_this_commit_is_named(tmp_path: Path) -> None:
    fault = random.Random(commit_seed(Path(__file__).parent)).choice(QUICK)
    library = Path(dl_vendor().library)
    vendor = FaultyVendor(tmp_path / "vendor", library, [fault.function])
    said, named = try_one(vendor, fault, tmp_path / "results", quick=True)
    assert said == "named", f"{fault}: {named}"

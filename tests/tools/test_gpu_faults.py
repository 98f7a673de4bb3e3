"""The table of faults that tools/gpu_faults seeds into kernels, and the judgement of findings.

``tools/nox -s gpu-faults`` checks that each fault is found, which needs compilers and takes long.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dl_kernels import families
from tools.gpu_faults.judge import Finding, Outcome, verdict
from tools.gpu_faults.table import TABLE, Expected, Mutation, TableError, read

HEADERS = Path(__file__).parents[2] / "packages" / "kernels" / "include"
MUTATIONS = read()


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.name)
def test_the_kernels_have_the_text(mutation: Mutation, tmp_path: Path) -> None:
    mutation.apply(HEADERS, tmp_path)
    before = (HEADERS / "dl_kernels" / mutation.file).read_text(encoding="utf-8")
    after = (tmp_path / "dl_kernels" / mutation.file).read_text(encoding="utf-8")
    assert after != before and after.count("\n") == before.count("\n")


def test_the_table_is_wide_enough() -> None:
    kinds = {x.expected["simulator"].finding for x in MUTATIONS if "simulator" in x.expected}
    assert {"race", "out-of-bounds", "uninitialised", "misaligned", "wrong"} <= kinds
    assert {"divergent-barrier", "deadlock", "invalid"} <= kinds
    assert {each.family for each in MUTATIONS} <= set(families())
    assert sum("emulation" in each.expected for each in MUTATIONS) >= 16


def test_a_build_has_what_its_families_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The module puts the kernels of this checkout first.
    monkeypatch.setattr(sys, "path", list(sys.path))
    from tools.gpu_faults.builds import Emulated

    build = Emulated(tmp_path, ["deformable_convolution", "sort"])
    names = {path.name for path in build.units(tmp_path / "units")}
    assert {"family_scatter.cpp", "family_copy.cpp", "part_gemm.cpp"} <= names


def test_a_text_that_is_gone_names_the_mutation(tmp_path: Path) -> None:
    for changes, said in (
        ({"find": "a line that does not exist"}, "0 times"),
        ({"find": "#include"}, "times instead of once"),
        ({"file": "gpu/gone.h"}, "the file gpu/gone.h does not exist"),
    ):
        with pytest.raises(TableError, match=f"{MUTATIONS[0].name}: .*{said}"):
            replace(MUTATIONS[0], **changes).apply(HEADERS, tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("put:", "puts:"), "puts is not a key"),
        (("  family: sort\n", ""), "family is missing"),
        (("  why:", "  #"), "`why` is required"),
    ],
)
def test_a_wrong_entry_is_refused(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    text = TABLE.read_text(encoding="utf-8")
    assert change[0] in text
    path = tmp_path / "table.yaml"
    path.write_text(text.replace(*change, 1), encoding="utf-8")
    with pytest.raises(TableError, match=said):
        read(path)


RACE = Finding("race", "_Z17sort_tiles_kernel", ("tile[to[k]] = mine[k];",), "writes")
RIGHT = [np.arange(3.0)]


@pytest.mark.parametrize(
    ("outcome", "expected", "missed"),
    [
        (Outcome([RACE]), Expected("race", "sort_tiles", "tile[to[k]]=mine[k]"), None),
        (Outcome([RACE]), Expected("race", "merge"), "found, but not in merge"),
        (Outcome([RACE]), Expected("race", "sort", "here[i]"), "found, but not in sort"),
        (Outcome([RACE]), Expected("uninitialised"), "no uninitialised; found: race"),
        (Outcome(errors={"case": "it crashed"}), Expected("race"), "it crashed"),
        (Outcome(results={"case": [np.ones(3)]}), Expected("wrong"), None),
        (Outcome(results={"case": RIGHT}), Expected("wrong"), "the result is right"),
        (Outcome([RACE], {"case": [np.ones(3)]}), Expected("wrong"), "only a wrong result"),
        (Outcome(errors={"case": "it crashed"}), Expected("wrong"), "instead of a wrong"),
    ],
)
def test_verdicts(outcome: Outcome, expected: Expected, missed: str | None) -> None:
    said = verdict(outcome, "case", RIGHT, expected)
    assert (said is None) if missed is None else (said is not None and missed in said)

"""The lists are strict, and invalid ones are refused."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest
import torch

from dl_torch_tests.opinfo.fixtures import Verdict
from dl_torch_tests.opinfo.known_failures import Key, KnownFailuresError, cause_of, load, parse
from dl_torch_tests.opinfo.sweep import Report
from dl_torch_tests.vendor_lists import VendorLists

from .vendor_lists import LISTS, ROOT

LISTED = {("mm", "forward", "float32"): "the vendor adds in another order"}


def verdict_of(known: dict[Key, str]) -> Verdict:
    return Verdict("other", known, defaultdict(Counter))


def test_lines_give_their_cause() -> None:
    known = parse("# why\n\nmm | forward | * | rounds twice\n", "list")
    assert cause_of(known, "mm", "forward", "int64") == "rounds twice"
    assert cause_of(known, "mm", "out", "int64") is None


@pytest.mark.parametrize(
    "text",
    [
        "mm | forward | float32",
        "mm | forward | float32 | ",
        "mm | sideways | float32 | cause",
        "mm | out | float32 | cause\nmm | out | float32 | another",
    ],
)
def test_a_line_that_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(KnownFailuresError, match="list:"):
        parse(text, "list")


def test_a_listed_operator_that_passes_fails_the_run() -> None:
    with pytest.raises(AssertionError, match="remove it from its list"):
        verdict_of(LISTED).judge(Report("mm"), "mm", "forward", torch.float32)


def test_a_listed_operator_that_fails_is_accepted() -> None:
    report = Report("mm", problems=["wrong"])
    verdict_of(LISTED).judge(report, "mm", "forward", torch.float32)


def test_an_operator_that_fails_and_is_not_listed_fails_the_run() -> None:
    with pytest.raises(AssertionError, match="wrong"):
        verdict_of({}).judge(Report("mm", problems=["wrong"]), "mm", "forward", torch.float32)


def test_a_vendor_keeps_its_list_in_its_package(tmp_path: Path) -> None:
    patterns = ("packages/{vendor}/tests", "plugins/{vendor}")
    lists = VendorLists.below(tmp_path, patterns)
    for vendor, folder in (("one", "packages/one/tests"), ("two", "plugins/two")):
        (tmp_path / folder).mkdir(parents=True)
        assert lists.find(vendor, "list.txt") == tmp_path / folder / "list.txt"
    assert lists.find("three", "list.txt") is None


def test_what_fails_everywhere_is_no_vendors(tmp_path: Path) -> None:
    shared, own = tmp_path / "shared.txt", tmp_path / "own.txt"
    shared.write_text("mm | forward | * | none has it\n")
    own.write_text("add | forward | * | rounds twice\n")
    assert {key[0] for key in load(own, shared)} == {"mm", "add"}
    assert {key[0] for key in load(None, shared)} == {"mm"}
    own.write_text("mm | forward | * | rounds twice\n")
    with pytest.raises(KnownFailuresError, match=r"mm \| forward .* is already in shared\.txt"):
        load(own, shared)


def test_the_vendors_of_this_repository_keep_theirs_in_their_packages() -> None:
    paths = {vendor: LISTS.find(vendor, "list.txt") for vendor in ("cpu", "async")}
    folders = {
        vendor: path.parent.relative_to(ROOT).as_posix() for vendor, path in paths.items() if path
    }
    assert folders == {
        "cpu": "packages/vendor-cpu/tests",
        "async": "tests/plugins/vendor-async/tests",
    }


def test_a_run_of_pytest_reads_the_folders_of_its_configuration(lists: VendorLists) -> None:
    assert lists == LISTS

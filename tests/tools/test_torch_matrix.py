"""The matrix of torch releases: copied files, counts, and failures."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest
import yaml

from tools.generated_part import END, part_of, with_part
from tools.projects import ROOT, Project
from tools.torch_matrix import report
from tools.torch_matrix.core_wheel import copy_sources
from tools.torch_matrix.doctor import Diagnosis
from tools.torch_matrix.environment import Environment, MatrixError
from tools.torch_matrix.releases import releases, supported
from tools.torch_matrix.suites import ON_TEST_VENDOR, Outcome, read, same_selection

REPORT = """
<testsuites><testsuite>
<testcase classname="sweep" name="mm"/>
<testcase classname="sweep" name="to_sparse"><properties>
<property name="known failure" value="dl has no sparse tensors"/></properties></testcase>
<testcase classname="sweep" name="logit"><failure message="wrong">text</failure></testcase>
<testcase classname="sweep" name="sort"><error message="crash">text</error></testcase>
<testcase classname="sweep" name="mode"><skipped message="why">text</skipped></testcase>
</testsuite></testsuites>
"""
RIGHT = Outcome(["one", "two"], {"three": "cause"}, [])
WHEELS = {"dl_vendor_cpu-0.1.0-py3-none-any.whl": "00ff"}


def row(
    release: str = "2.13.0",
    diagnosis: Diagnosis = Diagnosis(["cpu"], []),  # noqa: B008 - frozen
    refusals: tuple[str, ...] = (),
    torchvision: str | None = "0.28.0",
    outcomes: Mapping[str, Outcome] | None = None,
    python: str = "3.11",
    by_name_problems: tuple[str, ...] = (),
) -> report.Row:
    names = ("OpInfo", ON_TEST_VENDOR, "models", "torchvision")
    suites = dict.fromkeys(names, RIGHT)
    core = f"0.1.0+torch{release}"
    return report.Row(
        release,
        python,
        f"{release}+cpu",
        core,
        "ff",
        diagnosis,
        refusals,
        "loss 4.000 -> 0.100",
        by_name_problems,
        torchvision,
        suites if outcomes is None else outcomes,
    )


def test_a_report_is_read_by_what_came_of_each_test() -> None:
    outcome = read(REPORT)
    assert outcome.passed == ["sweep::mm"]
    assert outcome.known == {"sweep::to_sparse": "dl has no sparse tensors"}
    assert outcome.failed == ["sweep::logit", "sweep::sort", "sweep::mode"]
    assert not outcome.right and len(outcome.tests) == 5
    assert read(REPORT, may_skip=True).failed == ["sweep::logit", "sweep::sort"]


def test_a_suite_of_which_nothing_ran_is_not_right() -> None:
    assert RIGHT.right
    assert not Outcome([], {}, []).right
    assert not Outcome([], {"one": "cause"}, []).right


def test_tests_that_all_releases_ran_are_counted() -> None:
    assert same_selection([RIGHT, Outcome(["two", "four"], {}, ["three"])]) == 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (row(diagnosis=Diagnosis(["cpu"], ["a library is broken"])), "a library is broken"),
        (row(diagnosis=Diagnosis([], [])), "no device is visible"),
        (row(refusals=("dl doctor reports no problem",)), "dl doctor reports no problem"),
        (row(by_name_problems=("pip failed",)), "pip failed"),
        (row(outcomes={"OpInfo": Outcome(["one"], {}, ["two"])}), "OpInfo: 1 failed"),
        (
            row(outcomes={"models": Outcome([], {}, [])}),
            "models: 0 failed, the first is",
        ),
    ],
)
def test_faults_of_a_release_are_reported(wrong: report.Row, said: str) -> None:
    assert row().problems() == []
    (problem,) = wrong.problems()
    assert problem.startswith("torch 2.13.0, Python 3.11: ") and said in problem


PAGE = f"before\n{report.BEGIN}\nold\n{END}\nafter\n"


def test_the_table_has_a_line_for_each_release_and_only_its_part_of_the_page_changes() -> None:
    fewer = {"OpInfo": RIGHT}
    rows = [row("2.14.1", torchvision=None, outcomes=fewer, python="3.12"), row()]
    found = with_part(PAGE, report.section(rows, WHEELS, PAGE))
    assert found.startswith("before\n") and found.endswith("\nafter\n") and "old" not in found
    lines = [line for line in found.splitlines() if line.startswith("| 2.")]
    assert lines == [
        "| 2.13.0+cpu | 3.11 | 0.1.0+torch2.13.0 | healthy on cpu | yes | 2 of 3 | 2 of 3 | 2 of 3 "
        "| 2 of 3 in 0.28.0 |",
        "| 2.14.1+cpu | 3.12 | 0.1.0+torch2.14.1 | healthy on cpu | yes | 2 of 3 | not run "
        "| not run | none compatible |",
    ]
    assert "dl-vendor-cpu" in found
    assert with_part(found, report.section(rows, WHEELS, found)) == found


def test_counts_that_a_run_has_not_tested_are_kept() -> None:
    page = with_part(PAGE, report.section([row()], WHEELS, PAGE))
    (full,) = (line for line in page.splitlines() if line.startswith("| 2.13.0"))
    page = page.replace("healthy on cpu | yes", "healthy on gpu | not run")
    start = {"start": RIGHT}
    quick = [row("2.15.0", outcomes=start, python="3.12"), row(outcomes=start)]
    lines = report.section(quick, WHEELS, page).splitlines()
    told = [line for line in lines if line.startswith("| 2.")]
    assert told[0] == full
    assert told[1].startswith("| 2.15.0+cpu | 3.12 ") and "| not run | not run |" in told[1]
    other = Outcome(["one"], {}, [])
    outcomes = {**row().outcomes, "OpInfo": other}
    lines = report.section([row(outcomes=outcomes)], WHEELS, page).splitlines()
    assert any(line.startswith("| 2.13.0") and "| 1 of 1 |" in line for line in lines)


def test_the_report_says_what_was_tested_with_what() -> None:
    found = report.as_json([row(), row("2.14.1", torchvision=None)], WHEELS)
    assert found["wheels"] == WHEELS and found["OpInfo tests that all releases ran"] == 3
    one, two = found["releases"].values()  # type: ignore[attr-defined]
    assert (one["version of torchvision"], two["version of torchvision"]) == ("0.28.0", None)
    assert one["dl-core"] == "0.1.0+torch2.13.0" and one["dl-core sha256"] == "ff"
    counts = {"tests": 3, "passed": 2, "known_failures": {"three": "cause"}, "failed": []}
    assert one["OpInfo"] == one["torchvision"] == counts


def test_a_page_without_a_part_for_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="must have exactly one part between"):
        with_part("no table", report.section([row()], WHEELS, PAGE))


def test_the_page_has_a_line_for_each_supported_release() -> None:
    page = ROOT / "docs" / "reference" / "torch-releases.md"
    part = part_of(page.read_text(encoding="utf-8"), "torch-matrix")
    rows = [line.split(" | ") for line in part.splitlines() if line.startswith("| 2.")]
    told = [(cells[2].partition("+torch")[2], cells[1]) for cells in rows]
    assert list(dict.fromkeys(release for release, _ in told)) == supported()
    for release in releases():
        assert {python for name, python in told if name == release.name} >= set(release.matrix)


def test_the_page_lists_the_pythons_of_each_release() -> None:
    page = (ROOT / "docs" / "reference" / "torch-releases.md").read_text(encoding="utf-8")
    for release in releases():
        assert f"\n| {release.name} | {', '.join(release.pythons)}" in page


def test_constraints_name_a_supported_release() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    (pinned,) = (line.partition("==")[2] for line in lines if line.startswith("torch=="))
    assert pinned in supported()


def test_the_wheels_are_built_for_each_python_of_each_release() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text())
    matrix = workflow["jobs"]["core"]["strategy"]["matrix"]
    excluded = {(each["torch"], each["python"]) for each in matrix.get("exclude", ())}
    built = set(product(matrix["torch"], matrix["python"]))
    assert excluded <= built
    tags = {
        (release.name, f"cp{tag}-cp{tag}")
        for release in releases()
        for tag in (python.replace(".", "") for python in release.pythons)
    }
    assert built - excluded == tags


def test_the_matrix_tests_pythons_that_wheels_are_built_for() -> None:
    for release in releases():
        assert set(release.matrix) <= set(release.pythons), release


def test_an_environment_without_packages_is_refused(tmp_path: Path) -> None:
    environment = Environment("2.13.0", tmp_path / "bin" / "python")
    with pytest.raises(MatrixError, match=r"expected one folder lib/python3\.\*/site-packages"):
        _ = environment.packages


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "project"
    for name in ("csrc/add.cpp", "build/temp/add.o", "tests/test_add.py", "src/_C.so"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("first")
    return Project("dl-example", folder, (), (), test_only=False)


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_nothing_that_was_built_elsewhere_is_copied(project: Project, tmp_path: Path) -> None:
    assert files(copy_sources(project, tmp_path / "copy")) == {"csrc/add.cpp"}


def test_a_copy_keeps_its_own_objects_and_nothing_else(project: Project, tmp_path: Path) -> None:
    copy = copy_sources(project, tmp_path / "copy")
    source = copy / "csrc" / "add.cpp"
    before = source.stat().st_mtime_ns
    for name in ("build/temp/add.o", "build/lib/gone.py", "src/example.egg-info/PKG-INFO"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text("mine")
    copy_sources(project, copy)
    assert files(copy) == {"csrc/add.cpp", "build/temp/add.o"}
    assert (copy / "build" / "temp" / "add.o").read_text() == "mine"
    assert source.stat().st_mtime_ns == before


def test_a_file_that_is_not_the_wheels_is_noticed(tmp_path: Path) -> None:
    environment = Environment("2.13.0", tmp_path / "bin" / "python")
    (tmp_path / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    assert environment.name == "torch 2.13.0, Python 3.12"
    wheel = tmp_path / "example.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("example/__init__.py", "example/lib.so", "example-1.dist-info/RECORD"):
            archive.writestr(name, "first")
    for name in ("example/__init__.py", "example/lib.so"):
        path = environment.packages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("first")
    assert environment.differing_files(wheel) == []
    (environment.packages / "example" / "lib.so").write_text("second")
    assert environment.differing_files(wheel) == ["example/lib.so"]
    (environment.packages / "example" / "lib.so").unlink()
    assert environment.differing_files(wheel) == ["example/lib.so"]

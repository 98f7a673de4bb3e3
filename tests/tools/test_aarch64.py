"""The emulated aarch64 session: messages, drawn cases, stand-in libraries, and the report."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tools.aarch64 import (
    checks,
    packages,
    prerequisites,
    selection,
    stand_ins,
    torch_wheel,
    training,
)
from tools.aarch64.errors import SessionError, UnavailableError
from tools.aarch64.options import parse
from tools.aarch64.report import Finding, Report
from tools.aarch64.root import PACKAGES, Root
from tools.projects import in_build_order

READELF = """
Dynamic section at offset 0x1fd08 contains 29 entries:
 0x0000000000000001 (NEEDED)             Shared library: [libgpu.so.13]
 0x0000000000000001 (NEEDED)             Shared library: [libfabric.so.2]
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]

Symbol table '.dynsym' contains 7 entries:
   Num:    Value          Size Type    Bind   Vis      Ndx Name
     0: 0000000000000000     0 NOTYPE  LOCAL  DEFAULT  UND
     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND gpuMalloc@GPU_13 (3)
     2: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND memcpy@GLIBC_2.17 (2)
     3: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND fabricSend
     4: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND ours
     5: 0000000000000000     0 NOTYPE  WEAK   DEFAULT  UND __gmon_start__
     6: 0000000000001200    40 FUNC    GLOBAL DEFAULT   12 exported

Version needs section '.gnu.version_r' contains 2 entries:
 Addr: 0x00000000000005c8  Offset: 0x000005c8  Link: 4 (.dynstr)
  000000: Version: 1  File: libc.so.6  Cnt: 1
  0x0010:   Name: GLIBC_2.17  Flags: none  Version: 2
  0x0020: Version: 1  File: libgpu.so.13  Cnt: 1
  0x0030:   Name: GPU_13  Flags: none  Version: 3
"""
TESTS = """
<testsuites><testsuite>
<testcase classname="a" name="one"/>
<testcase classname="a" name="two"><skipped message="no cmake"/></testcase>
<testcase classname="a" name="three"><failure message="wrong"/></testcase>
<testcase classname="a" name="four"><error message="crash"/></testcase>
</testsuite></testsuites>
"""


def test_a_missing_program_is_reported_with_its_package() -> None:
    assert prerequisites.missing(lambda _: "/usr/bin/x") == []
    alone = prerequisites.missing(lambda x: None if x == "mmdebstrap" else x)
    assert prerequisites.installation(alone) == (
        "[aarch64] mmdebstrap not found: run `apt-get install mmdebstrap` and try again"
    )
    message = prerequisites.installation(prerequisites.missing(lambda _: None))
    assert "aarch64-linux-gnu-g++, qemu-aarch64-static and mmdebstrap not found" in message
    assert "`apt-get install g++-aarch64-linux-gnu qemu-user-static mmdebstrap`" in message


@pytest.mark.parametrize(
    ("machine", "said"),
    [("aarch64", "needs no emulation: run `tools/nox -s tests`"), ("riscv64", "is riscv64")],
)
def test_other_machines_are_refused(machine: str, said: str) -> None:
    with pytest.raises(SessionError, match=said):
        prerequisites.check(machine)


def test_cases_are_drawn_by_the_seed_and_are_no_calls_of_models() -> None:
    names = selection.candidates(["softmax"])
    assert len(names) > 100
    drawn = selection.draw(names, 20, "1")
    assert len(set(drawn)) == 20 and set(drawn) <= set(names)
    assert drawn == selection.draw(reversed(names), 20, "1")
    assert drawn != selection.draw(names, 20, "2")
    assert selection.draw(names[:3], 20, "1") == sorted(names[:3])
    whole = {x.name for x in selection.Selection(operators=["diopiSoftmax"]).cases()}
    assert whole - set(names)


def test_an_unknown_family_is_an_error_that_names_it() -> None:
    with pytest.raises(SessionError, match="--families softmux: the contract has no such family"):
        selection.candidates(["softmax", "softmux"])


def test_stand_ins_define_what_missing_libraries_should() -> None:
    library = stand_ins.parse(READELF)
    assert library.needed == {"libgpu.so.13", "libfabric.so.2", "libc.so.6"}
    assert library.defined == {"exported"}
    other = stand_ins.Linked(defined={"ours"})
    found = stand_ins.symbols([library, other], ["libc.so.6"])
    gpu = found.pop("libgpu.so.13")
    fabric = found.pop("libfabric.so.2")
    assert found == {}
    # Nothing tells which library has a function without a version, so both have it.
    assert gpu == {"": {"fabricSend"}, "GPU_13": {"gpuMalloc"}}
    assert fabric == {"": {"fabricSend"}}
    assert stand_ins.version_script(gpu) == "GPU_13 { global: gpuMalloc; };\n"
    assert stand_ins.version_script(fabric) == ""


def test_functions_of_a_stand_in_report_that_there_is_no_device(tmp_path: Path) -> None:
    code = stand_ins.source({"": {"cudaFree"}, "v1": {"cudaMalloc"}})
    main = "int main(void) { return cudaFree() == 100 && cudaMalloc() == 100 ? 0 : 1; }\n"
    (tmp_path / "program.c").write_text(code + main)
    subprocess.run(["cc", "program.c", "-o", "program"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "program"], check=True)


def test_requirements_for_gpus_and_extras_are_left_out() -> None:
    metadata = "\n".join(
        f"Requires-Dist: {each}"
        for each in (
            "filelock",
            "sympy>=1.13.3",
            'cuda-toolkit[cublas]==13.0.3; platform_system == "Linux"',
            "nvidia-nccl-cu13==2.29.7",
            "triton==3.7.1",
            'optree>=0.13.0; extra == "optree"',
        )
    )
    assert torch_wheel.requirements(metadata) == ["filelock", "sympy>=1.13.3"]


def test_an_install_replaces_packages_and_keeps_the_scripts_of_others(tmp_path: Path) -> None:
    fresh, there = tmp_path / "fresh", tmp_path / "packages"
    for path, text in {
        fresh / "one" / "new.py": "new",
        fresh / "one" / "header.h": "header",
        fresh / "one" / "edited.h": "after",
        there / "one" / "header.h": "header",
        there / "one" / "edited.h": "before",
        fresh / "bin" / "one": "new script",
        there / "one" / "old.py": "old",
        there / "two" / "two.py": "two",
        there / "bin" / "two": "script",
        there / "bin" / "one": "old script",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for path in there.rglob("*.h"):
        os.utime(path, (1, 1))
    packages.merge(fresh, there)
    found = {str(x.relative_to(there)): x.read_text() for x in there.rglob("*") if x.is_file()}
    assert found == {
        "one/new.py": "new",
        "one/header.h": "header",
        "one/edited.h": "after",
        "two/two.py": "two",
        "bin/one": "new script",
        "bin/two": "script",
    }
    assert not fresh.exists()
    # Objects that were built with an equal header are current.
    assert (there / "one" / "header.h").stat().st_mtime == 1
    assert (there / "one" / "edited.h").stat().st_mtime > 1


def test_build_requirements_are_those_of_the_index() -> None:
    projects = [x for x in in_build_order() if x.name in ("dl-core", "dl-diopi-proto")]
    found = packages.foreign_requirements(projects)
    assert any(x.startswith("cffi") for x in found) and "ninja" in found
    assert not any(x.startswith(("dl-", "torch")) for x in found)


def test_commands_run_in_the_filesystem_with_a_clean_environment(tmp_path: Path) -> None:
    command = Root(tmp_path, tmp_path / "logs").command(
        ["python3.11", "-V"], folder="/src", variables={"MAX_JOBS": "2"}
    )
    assert command[:4] == ["/usr/sbin/chroot", str(tmp_path), "/usr/bin/env", "-i"]
    assert "MAX_JOBS=2" in command and f"/{PACKAGES}/bin" in " ".join(command)
    assert command[-3:] == ["/src", "python3.11", "-V"]


def test_outcomes_of_tests_are_counted() -> None:
    counts = checks.read_tests(TESTS)
    assert counts.outcomes == {"passed": 1, "failed": 2, "skipped": 1}
    assert counts.failed == ["a::three", "a::four"]
    assert str(counts) == "1 passed, 2 failed, 1 skipped"


def test_first_losses_of_both_machines_are_compared() -> None:
    output = (
        "a warning\ntorch 2.13.0: loss 7.501 -> 0.038 on dl:0\n7.50096083 6.64807892 5.82484388\n"
    )
    found = training.parse(output)
    assert found.line == "torch 2.13.0: loss 7.501 -> 0.038 on dl:0"
    near = tuple(loss * (1 + 2e-7) for loss in found.losses)
    said = training.compare(found.losses, near)
    assert (
        said == "first losses 7.50096083, 6.64807892, 5.82484388, within 2.0e-07 of those on x86-64"
    )
    far = (*near[:2], near[2] * (1 + 1e-4))
    with pytest.raises(
        SessionError, match=r"5\.82484388 by emulation and .* 5\.82542753 on x86-64"
    ):
        training.compare(found.losses, far)
    with pytest.raises(SessionError, match="losses are nan, "):
        training.compare((float("nan"), *near[1:]), near)


def test_the_compiler_runs_through_ccache_if_the_machine_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "tools" / "ccache"
    program.parent.mkdir()
    program.touch()
    monkeypatch.setattr("shutil.which", lambda _: str(program))
    monkeypatch.setattr("tools.aarch64.root.libraries", lambda _: [])
    root = Root(tmp_path / "root", tmp_path / "logs")
    root.add_ccache()
    copy = root.path / str(program).removeprefix("/")
    assert copy.is_file()
    (path,) = (x for x in root.command(["g++"]) if x.startswith("PATH="))
    first = root.path / path.removeprefix("PATH=/").split(":")[0]
    links = {each.name: str(each.readlink()) for each in first.iterdir()}
    assert set(links.values()) == {str(program)}
    assert {"g++", "c++", "aarch64-linux-gnu-gcc"} <= set(links)
    monkeypatch.setattr("shutil.which", lambda _: None)
    root.add_ccache()
    assert not first.exists()


def test_tests_that_are_left_out_exist() -> None:
    (contract,) = (x for x in in_build_order() if x.name == "dl-diopi-proto")
    for name in checks.NOT_EMULATED:
        file, _, function = name.partition("::")
        assert f"def {function}" in (contract.folder / file).read_text()
    said = checks.describe_left_out()
    assert said.startswith("tests/test_worker.py, tests/test_trial.py::test_a_daemon")
    assert said.count("qemu") == 2


def failing() -> Finding:
    raise SessionError("[aarch64] `g++` ended with 1\nlast line")


def unavailable() -> Finding:
    raise UnavailableError("no wheel of torch")


def test_steps_whose_needs_are_not_met_do_not_run() -> None:
    report = Report(lambda _: None)
    report.run("build", failing)
    report.run("tests", lambda: Finding("", {"passed": 3}), ["build"])
    assert [(x.name, x.status) for x in report.steps] == [("build", "failed"), ("tests", "not run")]
    assert report.steps[1].finding.detail == "needs the step build"
    assert report.failed


def test_a_step_that_this_machine_cannot_do_is_no_failure() -> None:
    report = Report(lambda _: None)
    report.run("torch", unavailable)
    report.run("train", lambda: Finding("trained"), ["torch"])
    assert [x.status for x in report.steps] == ["not run", "not run"]
    assert not report.failed


def test_a_failed_case_fails_its_step_and_is_named() -> None:
    report = Report(lambda _: None)
    names = [f"case {at}" for at in range(7)]
    report.run("cases", lambda: Finding("7 failed", {"failed": 7}, names))
    assert report.failed
    head, line = report.table().splitlines()
    assert head.split() == ["step", "status", "wall", "s", "CPU", "s", "result"]
    assert line.startswith("cases  failed")
    assert line.endswith("7 failed; failed: case 0, case 1, case 2, case 3, case 4 and 2 more")


def test_the_report_as_data_is_labelled_as_emulated() -> None:
    report = Report(lambda _: None)
    report.run("cases", lambda: Finding("1 passed", {"passed": 1}))
    found = json.loads(json.dumps(report.as_dict({"seed": "7"})))
    assert found["emulated"] is True and found["seed"] == "7"
    (step,) = found["steps"]
    assert (step["step"], step["status"], step["counts"]) == ("cases", "passed", {"passed": 1})
    assert step["seconds"] >= 0 and step["cpu_seconds"] >= 0


def test_options_select_a_part() -> None:
    options = parse(["--families", "softmax,copy", "--seed", "7", "--without-torch"])
    assert options.families == ["softmax", "copy"] and options.torch is None
    assert (options.cases, options.seed, options.level) == (1000, "7", "armv8")
    assert parse([]).families is None and parse([]).torch
    with pytest.raises(SystemExit):
        parse(["--cases", "0"])


def test_a_command_that_hangs_ends_at_its_timeout_in_spite_of_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Root(tmp_path, tmp_path / "logs")
    monkeypatch.setattr(Root, "command", lambda _, command, **__: list(command))
    assert root.run("echo", "fine", log="fine") == "fine\n"
    # The process in the background keeps the standard output open.
    with pytest.raises(SessionError, match=r"took longer than 0\.5 s"):
        root.run("sh", "-c", "sleep 30 & wait", log="hangs", seconds=0.5)

"""A killed or interrupted run can be resumed."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from diopi_proto.worker import below
from dl_conformance.journal import Journal, Plan
from dl_conformance.outcome import Outcome
from dl_conformance.report_file import ReportError
from dl_conformance.results import Results
from dl_conformance.target import of_library

PASSES, HANGS = "diopiAbs[float32-5]", "diopiCos[float32-5]"


def command(library: Path, file: Path, *options: str) -> list[str]:
    names = [part for name in (PASSES, HANGS) for part in ("--case", name)]
    command = [sys.executable, "-m", "dl_conformance", "--library", str(library), *names]
    return [*command, "--json", str(file), "--jobs", "1", *options]


def ended(library: Path, file: Path, by: signal.Signals) -> tuple[int, bytes, bytes]:
    """End a run during the hanging case, after the other one is done; its workers end too.

    :returns: exit status and output of the run.
    """
    fifo = file.with_name("passed")
    os.mkfifo(fifo)
    # The journal is a pipe, which is the only way to wait for the passed case.
    partial = file.with_name(f"{file.name}.partial")
    partial.symlink_to(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    run = subprocess.Popen(
        command(library, file, "--seconds", "600"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Background processes ignore SIGINT, and their children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        kept = b""
        while b'"status": "passed"' not in kept:
            assert select.select([reader], [], [], 120)[0], "the first case did not end"
            piece = os.read(reader, 1 << 16)
            assert piece, run.communicate()
            kept += piece
        workers = [os.pidfd_open(worker.pid) for worker in below(run.pid)]
        assert workers
        run.send_signal(by)
        said, error = run.communicate()
        for worker in workers:
            assert select.select([worker], [], [], 120)[0], "a worker outlives its run"
            os.close(worker)
    finally:
        run.kill()  # where the test fails
    os.close(reader)
    partial.unlink()
    # A killed run may leave an incomplete last line.
    partial.write_bytes(kept + b'{"name": "diopiCos[fl')
    return run.returncode, said, error


def test_killed_run_is_resumed(library: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    ended(library, file, signal.SIGKILL)
    partial = tmp_path / "report.json.partial"
    # Mark the outcomes in the journal, to recognize those that are retained.
    lines = partial.read_text().splitlines()
    of_run = [json.loads(line) for line in lines[:-1]]
    of_run[-1]["seconds"] = 41.5
    partial.write_text("\n".join([*map(json.dumps, of_run), lines[-1]]))
    done = subprocess.run(
        command(library, file, "--seconds", "1", "--resume"), capture_output=True, text=True
    )
    assert done.returncode == 1, done.stderr
    assert "2 cases of 2 operators" in done.stdout and "1 passed, 1 failed" in done.stdout
    cases = {x["name"]: x for x in json.loads(file.read_text())["cases"]}
    assert cases[PASSES]["seconds"] == 41.5
    assert cases[HANGS]["cause"] == "hang: longer than 1 s"
    assert not partial.exists()


def test_interrupted_run_tells_how_to_resume(library: Path, tmp_path: Path) -> None:
    status, said, error = ended(library, tmp_path / "report.json", signal.SIGINT)
    assert (status, said) == (2, b"")
    assert error == b"conformance: interrupted after 1 of 2 cases; --resume continues\n"


def test_only_the_journal_of_the_same_library_is_used(
    library: Path, compile_c: Callable[..., Path], tmp_path: Path
) -> None:
    file, target = tmp_path / "report.json", of_library(str(library), None)
    plan = Plan([PASSES, HANGS], "--fname Abs --fname Cos")
    with pytest.raises(ReportError, match="no run to resume"):
        Journal(file, target, plan, resume=True)
    with Journal(file, target, plan, resume=False) as journal:
        journal.add(Outcome(PASSES, "diopiAbs", "float32", "passed"))
    with Journal(file, target, plan, resume=True) as journal:
        assert list(journal.outcomes) == [PASSES]
    # Checks of the runtime have no dtype.
    check = Outcome("runtime[events]", "runtime", "", "passed")
    with Journal(file, target, plan, resume=True) as journal:
        journal.add(check)
    with Journal(file, target, plan, resume=True) as journal:
        assert journal.outcomes[check.name].dtype == ""
    other = of_library(str(compile_c(Path(__file__).with_name("bare.c"))), None)
    with pytest.raises(ReportError, match="is of another run: built was"):
        Journal(file, other, plan, resume=True)
    partial = tmp_path / "report.json.partial"
    first = partial.read_text().splitlines()[0]
    for text in ("", "[]", "nothing", "{}"):
        partial.write_text(text)
        with pytest.raises(ReportError, match="start a new run without --resume"):
            Journal(file, target, plan, resume=True)
    partial.write_text(f'{first}\n{{"named": 1}}\n')
    with pytest.raises(ReportError, match="a line that is not an outcome"):
        Journal(file, target, plan, resume=True)


def test_run_continues_without_a_writable_journal(
    library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, plan = of_library(str(library), None), Plan([PASSES], "--case A")
    partial = tmp_path / "report.json.partial"
    partial.symlink_to("/dev/full")
    with Journal(tmp_path / "report.json", target, plan, resume=False) as journal:
        for _ in range(2):
            journal.add(Outcome(PASSES, "diopiAbs", "float32", "passed"))
        journal.remove()
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"{partial} cannot be written: No space left on device; the run continues" in said
    with pytest.raises(ReportError, match=r"report\.json\.partial cannot be written"):
        Journal(tmp_path / "no" / "report.json", target, plan, resume=False)


def test_run_of_other_cases_is_not_resumed_and_keeps_its_outcomes(
    library: Path, tmp_path: Path
) -> None:
    file, target = tmp_path / "report.json", of_library(str(library), None)
    with Journal(file, target, Plan([PASSES, HANGS], "--case A"), resume=False) as journal:
        journal.add(Outcome(PASSES, "diopiAbs", "float32", "passed", seconds=41.5))
    partial = tmp_path / "report.json.partial"
    before = partial.read_text()
    narrower = [sys.executable, "-m", "dl_conformance", "--library", str(library), "--resume"]
    done = subprocess.run(
        [*narrower, "--json", str(file), "--fname", "Abs", "-k", "[float32-5]"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    said = (
        "is of a run of other cases: --case A selected 2, now --fname Abs -k '[float32-5]' "
        "selects 1"
    )
    assert said in done.stderr
    assert "Give --resume the options of that run, or name another file" in done.stderr
    assert "discards its 1 outcomes" in done.stderr
    assert partial.read_text() == before and not file.exists()
    # A different expression that selects the same cases is accepted.
    done = subprocess.run(
        [
            *(*narrower, "--json", str(file), "--seconds", "1"),
            *("--fname", "Abs", "--fname", "Cos", "-k", "[float32-5]"),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    cases = {x["name"]: x for x in json.loads(file.read_text())["cases"]}
    assert cases.keys() == {PASSES, HANGS} and cases[PASSES]["seconds"] == 41.5


def test_finished_run_is_reported_again(library: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    check = "runtime[a driver and a device are present]"
    for name, status in ((PASSES, 0), ("diopiSin[float32-5]", 1), (check, 0)):
        run = [sys.executable, "-m", "dl_conformance", "--library", str(library), "--json", file]
        first = subprocess.run([*run, "--case", name], capture_output=True, text=True)
        assert first.returncode == status, first.stderr
        before = file.read_text()
        junit = tmp_path / "junit.xml"
        options = ("--case", name, "--resume", "--junit", str(junit))
        done = subprocess.run([*run, *options], capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        said = f"the run to {file} is finished: there is nothing to resume\n"
        assert done.stdout == said + first.stdout
        assert file.read_text() == before
        assert name in junit.read_text()


def test_a_summary_has_the_seconds_of_its_report() -> None:
    results, about = Results(), {"name": "toy", "version": "1"}
    reported = json.loads(results.json(about, 1.8498))["seconds"]
    assert results.text(about, 1.8498) == results.text(about, reported)


def test_finished_run_of_other_cases_cannot_be_resumed(library: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    own = tmp_path / "libown.so"
    shutil.copy(library, own)
    run = [sys.executable, "-m", "dl_conformance", "--library", str(own), "--json", str(file)]
    assert subprocess.run([*run, "--case", PASSES], capture_output=True).returncode == 0

    def resumed(*options: str) -> str:
        done = subprocess.run([*run, *options, "--resume"], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, "")
        assert "there is no run to resume" in done.stderr
        return done.stderr

    said = resumed("--case", PASSES, "--case", HANGS)
    assert "finished run: it has 1 cases, but these options select 2; start a new run" in said
    own.touch()
    assert "finished run: built was " in resumed("--case", PASSES)
    file.unlink()
    assert "start a new run" not in resumed("--case", PASSES)


def test_resume_wants_a_report() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dl_conformance", "--library", "x.so", "--resume"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2

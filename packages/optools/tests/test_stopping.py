"""SIGTERM and Ctrl-C end a diagnosis at any time, with one sentence and the right exit code."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from diopi_proto.worker import forks
from dl_core import cli
from dl_optools.bisect.forked_runs import ForkServer
from dl_optools.bisect.program_runner import ProgramRunner
from dl_optools.bisect.python_program import PythonProgram
from dl_optools.bisect.starter import Starter
from dl_optools.breadcrumbs.crumb_file import CrumbWriter
from dl_optools.breadcrumbs.names import FOLDER_VARIABLE
from dl_optools.diagnosis import diagnosis
from dl_optools.diagnosis.names import PROBE
from dl_optools.diagnosis.report import describe_failure
from dl_optools.diagnosis.runs import Runner
from dl_optools.launching.lifetime import Terminated, describe_end
from dl_optools.launching.reports import note_report

STOPS = ((Terminated, 143), (KeyboardInterrupt, 130))


def interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt runs with Ctrl-C after a minute in one operator."""

    def start(_: Starter, variables: dict[str, str], log: Path, is_stuck: object) -> int:
        writer = CrumbWriter(Path(variables[FOLDER_VARIABLE]))
        slot = writer.take()
        with monkeypatch.context() as patch:
            past = time.monotonic_ns() - 60 * 10**9
            patch.setattr("time.monotonic_ns", lambda: past)
            writer.begin(slot.at, "aten.mm.default(float32[2, 2], float32[2, 2])")
        raise KeyboardInterrupt

    monkeypatch.setattr(Starter, "start", start)


def test_a_run_that_is_stopped_names_the_operator_it_was_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(monkeypatch)
    runner = Runner(["python", "x.py"], {}, tmp_path, None)
    found = diagnosis.diagnose(runner, lambda _: None)
    assert found.guilty == [] and runner.stopped == 130
    assert found.unable.startswith("it was stopped in its first run, after 60 s while aten.mm")
    said: list[str] = []
    search = ProgramRunner(["python", "x.py"], "dispatch", None, {}, say=said.append)
    with pytest.raises(KeyboardInterrupt):
        search.run(frozenset(), tmp_path / "run.log")
    assert said[0].startswith("the run was stopped after 60 s while aten.mm.default(")


@pytest.mark.parametrize(("stop", "status"), STOPS)
def test_a_stop_between_two_runs_ends_the_diagnosis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException], status: int
) -> None:
    """The modules that a run imported are preloaded for the next one."""

    def start(_: Starter, variables: dict[str, str], log: Path, is_stuck: object) -> int:
        note_report(variables, PROBE, {"imported": ["json"], "calls": {"aten.mm.default": 1}})
        return 0

    def preload(*_: object) -> None:
        raise stop

    monkeypatch.setattr(Starter, "start", start)
    monkeypatch.setattr(Starter, "preload", preload)
    runner = Runner(["python", "x.py"], {}, tmp_path, None)
    assert runner.run(PROBE).status == 0 and runner.stopped == status
    # Nothing runs any more.
    monkeypatch.setattr(Starter, "start", preload)
    assert runner.run(PROBE).status == status


@pytest.mark.parametrize(("stop", "status"), STOPS)
def test_a_stop_at_any_other_time_is_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    stop: type[BaseException],
    status: int,
) -> None:
    def diagnose(*_: object, **options: object) -> None:
        raise stop

    monkeypatch.setattr(diagnosis, "diagnose", diagnose)
    words = ["diagnose", "--output", str(tmp_path), "--", sys.executable, "x.py"]
    assert cli.main(words) == status
    assert capsys.readouterr() == ("", "dl diagnose: it was stopped before there was a verdict\n")


def test_a_process_that_still_starts_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def ask(server: forks.ForkServer, *_: object) -> None:
        started.append(server._process)
        raise Terminated

    monkeypatch.setattr(forks.ForkServer, "ask", ask)
    monkeypatch.setattr(forks, "_ENDING_SECONDS", 0.05)
    program = PythonProgram((sys.executable,), "code", "pass", ())
    with pytest.raises(Terminated):
        ForkServer(program, {}, tmp_path / "server.log")
    assert [process.poll() is not None for process in started] == [True]


def test_a_stopped_program_has_not_failed(tmp_path: Path) -> None:
    found = diagnosis.Diagnosis(["python", "x.py"], tmp_path, status=143, stopped=True)
    assert describe_failure(found) == []
    found.stopped = False
    assert describe_failure(found)[0].startswith("the program itself was killed by SIGTERM; ")
    assert describe_end(3) == "ended with exit status 3"

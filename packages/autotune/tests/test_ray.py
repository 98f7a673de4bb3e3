"""A tuning run on a Ray cluster of this machine: failures of candidates are results of their
trials, as without Ray, and no process is left behind. DL_TEST_SAMPLE=1, which `nox -s full` sets,
runs it.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from diopi_proto.worker import below
from dl_autotune import TuningError
from dl_autotune.runners.database import Database, StoredTrial
from dl_autotune.runners.device_lock import DeviceLock
from dl_autotune.runners.kernel_worker import Target
from dl_autotune.runners.limits import Limits
from dl_autotune.runners.ray import OnRay
from dl_autotune.runners.tuner import Plan, Tuner
from dl_autotune.runners.worker import WorkerError
from dl_autotune.strategies import Budget
from test_tuner import KERNEL, QUICK
from workers import obey

WHOLE = os.environ.get("DL_TEST_SAMPLE") == "1"
LIMITS = Limits(memory=1 << 30, processes=16)


def test_without_ray_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(TuningError, match=r"pip install 'dl-autotune\[ray\]'"):
        OnRay()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folder for locks and compiled kernels; Ray's sockets need a shorter path than pytest's."""
    made = tmp_path_factory.mktemp("ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", tempfile.gettempdir())
        patch.setenv("TMPDIR", str(made))
        patch.setattr("tempfile.tempdir", str(made))
        patch.setenv("DL_CPU_KERNEL_CACHE", str(made / "kernels"))
        patch.setenv("OMP_NUM_THREADS", "1")
        # The folder of the handlers for these tests.
        path = (str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")]))
        patch.setenv("PYTHONPATH", os.pathsep.join(path))
        yield made


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[OnRay]:
    if not WHOLE:
        pytest.skip("a cluster takes its time: nox -s full, or DL_TEST_SAMPLE=1")
    pytest.importorskip("ray", reason="needs ray, which is an extra")
    with OnRay(processors=3) as made:
        yield made


def wait_for_end(processes: list[int]) -> None:
    """Wait until processes have ended, given as descriptors."""
    for each in processes:
        assert select.select([each], [], [], 60)[0] == [each]
        os.close(each)


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def test_a_worker_fails_as_it_does_without_ray(cluster: OnRay) -> None:
    with cluster.lock("cpu", 7):
        worker = cluster.measurer(obey, LIMITS)
        first = worker.call(("pid", None), 60)
        assert first not in (os.getpid(), None)
        assert worker.call(("echo", {"any": [1]}), 60) == {"any": [1]}
        for request, seconds, reason in (
            (("crash", signal.SIGSEGV), 60, "crash"),
            (("hang", None), 1, "timeout"),
            (("child", None), 60, "children"),
            (("raise", "no"), 60, "error"),
            (("bomb", 100), 60, "limit"),
            (("kill_parent", None), 60, "limit"),
        ):
            with pytest.raises(WorkerError) as caught:
                worker.call(request, seconds)
            assert caught.value.reason == reason, (request, caught.value)
        assert worker.call(("pid", None), 60) != first
        worker.stop()


def test_a_lost_worker_is_restarted_and_keeps_its_device(cluster: OnRay) -> None:
    with cluster.lock("cpu", 7):
        worker = cluster.measurer(obey, LIMITS)
        old = os.pidfd_open(worker.call(("pid", None), 60))
        with pytest.raises(TuningError, match="being tuned by process") as caught:
            DeviceLock("cpu", 7).__enter__()
        host = int(str(caught.value).partition("by process ")[2].split()[0])
        assert host != os.getpid()
        os.kill(host, signal.SIGKILL)
        with pytest.raises(WorkerError, match="the machine was lost") as lost:
            worker.call(("echo", 1), 60)
        assert lost.value.reason == "crash"
        wait_for_end([old])
        assert worker.call(("echo", 2), 60) == 2
        with pytest.raises(TuningError, match="being tuned by process"):
            DeviceLock("cpu", 7).__enter__()
    # The lock is free as soon as the process has ended.
    with cluster.lock("cpu", 7):
        pass


def test_a_locked_device_is_not_acquired(cluster: OnRay) -> None:
    with (
        DeviceLock("cpu", 7),
        pytest.raises(TuningError, match=f"already being tuned by process {os.getpid()}"),
        cluster.lock("cpu", 7),
    ):
        pass


def test_a_run_keeps_what_candidates_do_and_claims_the_fastest(
    cluster: OnRay, tmp_path: Path
) -> None:
    plan = Plan(
        Budget(evaluations=10),
        "random",
        search_races=QUICK,
        final_races=QUICK,
        final_processes=2,
    )
    database = Database(tmp_path / "trials.sqlite")
    told: list[StoredTrial] = []
    made = Tuner(
        Target(KERNEL, "cpu", seed=3), database, plan, lambda trial, _: told.append(trial), cluster
    )
    tuned = made.run()
    assert (tuned.config, tuned.evaluated) == ({"MODE": 1}, 6)
    assert tuned.claim.interval.ratio > 3
    trials = {each.config["MODE"]: each for each in database.trials(tuned.study)}
    assert {mode: each.invalidity for mode, each in trials.items()} == {
        1: "correct",
        2: "correctness",
        3: "runtime",
        4: "correctness",
        5: "correctness",
        6: "compile",
    }
    assert "ended by SIGSEGV" in trials[3].message
    assert len(trials[1].candidate) == len(trials[1].baseline) == 4
    assert told == database.trials(tuned.study)
    # The run without Ray has the same study and reuses the result.
    assert Tuner(Target(KERNEL, "cpu", seed=3), database, plan).run().reused


def test_machines_that_differ_are_refused(cluster: OnRay, tmp_path: Path) -> None:
    made = Tuner(Target(KERNEL, "cpu"), Database(tmp_path / "t.sqlite"), placement=cluster)
    found = {"vendor": "cpu 0", "device": "another", "architecture": "x", "compiler": "y"}
    made._identity = lambda: found  # type: ignore[method-assign]
    with pytest.raises(TuningError, match="machines differ: vendor is 'cpu 0' on the machine"):
        made.run()


@pytest.mark.skipif(not WHOLE, reason="a cluster takes its time: nox -s full, or DL_TEST_SAMPLE=1")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_tuner_that_is_stopped_leaves_no_process(
    folder: Path, tmp_path: Path, how: signal.Signals
) -> None:
    pytest.importorskip("ray", reason="needs ray, which is an extra")
    path = tmp_path / "trials.sqlite"
    command = [
        *(sys.executable, "-m", "dl_autotune", "kernel", str(KERNEL), "--database", str(path)),
        *("--strategy", "exhaustive", "--evaluations", "6", "--workers", "1", "--ray", "local"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    # The first candidate is reported when it is stored, while the others still run.
    while "MODE=1" not in (line := process.stderr.readline()):
        assert line, "it ended by itself"
    started = [each.pid for each in below(process.pid)]
    if how is signal.SIGKILL:
        # Ray's agents take a minute to see that their driver was killed; hosts do not.
        hosts = [pid for pid in started if "ray::Host" in command_of(pid)]
        assert len(hosts) == 2
        started = [*hosts, *(each.pid for host in hosts for each in below(host))]
    ends = [os.pidfd_open(pid) for pid in started]
    process.send_signal(how)
    status = process.wait(120)
    process.stderr.close()
    assert status == (130 if how is signal.SIGINT else -how)
    # Two hosts, each with at least a guard and a worker.
    assert len(ends) >= 6
    wait_for_end(ends)
    database = Database(path)
    (study,) = database.studies()
    assert database.trials(study)[0].config == {"MODE": 1}

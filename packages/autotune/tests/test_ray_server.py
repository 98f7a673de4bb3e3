"""A run on a Ray cluster of this machine with its study on a PostgreSQL server: SIGKILL of workers,
and of the server, loses at most the evaluations in flight. DL_TEST_SAMPLE=1, which `nox -s full`
sets, runs it.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from diopi_proto.worker import below
from dl_autotune.runners.database import Database, StoredTrial
from dl_autotune.runners.kernel_worker import Target
from dl_autotune.runners.ray import OnRay
from dl_autotune.runners.tuner import Plan, Tuner
from dl_autotune.strategies import Budget
from postgresql_server import PostgresqlServer, run_server
from test_tuner import QUICK

pytestmark = pytest.mark.skipif(
    os.environ.get("DL_TEST_SAMPLE") != "1",
    reason="a cluster takes its time: nox -s full, or DL_TEST_SAMPLE=1",
)
KERNEL = Path(__file__).parent / "kernels" / "logged.py"
EVALUATIONS = 10


class StoppedError(Exception):
    """The end of the first run."""


@pytest.fixture
def server() -> Iterator[PostgresqlServer]:
    pytest.importorskip("ray", reason="needs ray, which is an extra")
    yield from run_server()


def find_hosts() -> list[int]:
    """Return the processes of Ray that are workers of dl-autotune."""
    commands = [(each.pid, Path(f"/proc/{each.pid}/cmdline")) for each in below(os.getpid())]
    return [pid for pid, path in commands if path.exists() and "ray::Host" in path.read_text()]


def test_killed_workers_and_a_killed_server_lose_at_most_what_is_in_flight(
    server: PostgresqlServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_TMPDIR", tempfile.gettempdir())
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("DL_CPU_KERNEL_CACHE", str(tmp_path / "kernels"))
    monkeypatch.setenv("DL_TEST_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    plan = Plan(
        Budget(evaluations=EVALUATIONS),
        "exhaustive",
        workers=1,
        search_races=QUICK,
        final_races=QUICK,
        final_processes=2,
    )
    restart = threading.Thread(target=server.start)
    hosts: list[int] = []
    told: list[StoredTrial] = []

    def disturb(trial: StoredTrial, _: int) -> None:
        """Kill workers, then the server, and then end the run, each after a stored trial."""
        told.append(trial)
        if len(told) == 2:
            hosts.extend(find_hosts())
            for pid in hosts:
                os.kill(pid, signal.SIGKILL)
        elif len(told) == 5:
            server.kill()
            restart.start()
        elif len(told) == 8:
            raise StoppedError

    target, database = Target(KERNEL, "cpu", seed=3), Database(server.address())
    with OnRay(processors=2) as cluster:
        with pytest.raises(StoppedError):
            Tuner(target, database, plan, disturb, cluster).run()
        restart.join()
        assert len(hosts) == 2
        # Every reported trial is stored, also those around the kills.
        (study,) = Database(server.address()).studies()
        assert Database(server.address()).trials(study) == told
        failed = [trial for trial in told if trial.invalidity != "correct"]
        assert all("the machine was lost" in trial.message for trial in failed)
        assert len(failed) <= len(hosts)
        tuned = Tuner(target, Database(server.address()), plan, placement=cluster).run()
    assert (tuned.study, tuned.evaluated) == (study, EVALUATIONS)
    found = Database(server.address()).trials(study)
    assert found[: len(told)] == told
    assert len(found) == EVALUATIONS

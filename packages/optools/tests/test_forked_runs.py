"""Forked runs end like runs in separate processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dl_optools.bisect import fork_server
from dl_optools.bisect.forked_runs import ForkError, ForkServer
from dl_optools.bisect.name_list import COLLECTOR, FOLDER_VARIABLE, read_modules, read_operators
from dl_optools.bisect.python_program import PythonProgram, parse_command
from dl_optools.bisect.search import find_minimal
from programs import environment

PROGRAM = """
import os, sys, threading
from helper import WORD

what = os.environ["WHAT"]
print(__name__, __file__ == sys.argv[0], sys.argv[1:], WORD, what, flush=True)
if what == "raise":
    raise ValueError("no such thing")
if what == "hang":
    threading.Event().wait()
if what == "compute":
    import torch
    print((torch.ones(1 << 20).sum() + 1).item())
if what == "die":
    os.kill(os.getpid(), 9)
sys.exit(7 if what == "seven" else 0)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("program")
    (made / "program.py").write_text(PROGRAM)
    (made / "helper.py").write_text("WORD = 'help'")
    return made


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[ForkServer]:
    program = parse_command([sys.executable, "-u", str(folder / "program.py"), "a", "-b"])
    assert program is not None
    found = ForkServer(program, environment(folder), folder / "server.log")
    yield found
    found.close()


def test_a_forked_run_behaves_like_a_separate_process(server: ForkServer, folder: Path) -> None:
    log = folder / "run.log"
    names = {"DL_TOOLS": COLLECTOR, "DL_TOOLS_DEVICE": "cpu", FOLDER_VARIABLE: str(folder / "n")}
    assert server.run({"WHAT": "compute", **names}, log, 60) == 0
    said = [x for x in log.read_text().splitlines() if not x.startswith("dl-optools: runs")]
    assert said == ["__main__ True ['a', '-b'] help compute", "1048577.0"]
    assert "aten.sum.default" in read_operators(folder / "n")
    assert "torch" in read_modules(folder / "n")


@pytest.mark.parametrize(("what", "status"), [("seven", 7), ("raise", 1), ("die", 137)])
def test_how_runs_end(server: ForkServer, folder: Path, what: str, status: int) -> None:
    log = folder / f"{what}.log"
    assert server.run({"WHAT": what}, log, 60) == status
    assert ("ValueError: no such thing" in log.read_text()) == (what == "raise")


def test_a_run_that_hangs_is_killed_and_others_go_on(server: ForkServer, folder: Path) -> None:
    def run(what: str) -> int:
        return server.run({"WHAT": what}, folder / f"{what}.log", 0.5 if what == "hang" else 60)

    with ThreadPoolExecutor(2) as pool:
        hangs, other = pool.submit(run, "hang"), pool.submit(run, "compute")
        with pytest.raises(subprocess.TimeoutExpired):
            hangs.result()
        assert other.result() == 0


def test_a_server_that_dies_is_reported(folder: Path) -> None:
    program = PythonProgram((sys.executable, "-c", "pass"), "file", "program.py", ())
    with pytest.raises(ForkError, match="has ended"):
        ForkServer(program, environment(folder), folder / "dead.log")


def test_modules_that_start_threads_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "module_with_thread.py").write_text(
        "import threading\nend = threading.Event()\nthread = threading.Thread(target=end.wait)\n"
        "thread.start()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    before = threading.active_count()
    # Tests before this one may have used the device.
    monkeypatch.setattr(fork_server, "_device_in_use", lambda: "")
    # Modules of the program itself are not preloaded.
    if before == 1:
        assert fork_server.preload(["module_with_thread"]) == ""
    assert "module_with_thread" not in sys.modules
    monkeypatch.setattr(fork_server, "_is_installed", lambda name: True)
    assert "starts threads" in fork_server.preload(["module_with_thread"])
    module = sys.modules.pop("module_with_thread")
    module.end.set()
    module.thread.join()


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (["python", "a.py", "-m", "x"], PythonProgram(("python",), "file", "a.py", ("-m", "x"))),
        (
            ["/usr/bin/python3.11", "-u", "-X", "dev", "-Wignore", "-m", "pkg.train", "--lr"],
            PythonProgram(
                ("/usr/bin/python3.11", "-u", "-X", "dev", "-Wignore"),
                "module",
                "pkg.train",
                ("--lr",),
            ),
        ),
        (["python", "-c", "print(1)"], PythonProgram(("python",), "code", "print(1)", ())),
        (["python", "-m", "torch.distributed.run", "a.py"], None),
        (["python", "-I", "a.py"], None),
        (["torchrun", "a.py"], None),
        (["python"], None),
        ([], None),
    ],
)
def test_programs_of_python(command: list[str], found: PythonProgram | None) -> None:
    assert parse_command(command) == found


@pytest.mark.parametrize("guilty", [{0}, {199}, {3, 120}])
def test_tests_at_a_time(guilty: set[int]) -> None:
    names = [str(x) for x in range(200)]
    wanted = frozenset(str(x) for x in guilty)
    rounds: list[int] = []
    found = find_minimal(names, lambda x: wanted <= x, lambda sets: rounds.append(len(sets)), 3)
    assert found == wanted
    # Each round leaves a quarter of the remaining time.
    assert len(rounds) <= 5 * len(guilty) and max(rounds) == 3

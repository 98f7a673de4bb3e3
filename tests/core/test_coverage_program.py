"""``dl coverage --program``: a program runs as usual, and what its vendor lacks is ranked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from .processes import RUNS_ONCE, SECONDS
from .stub_vendor import StubVendor

pytestmark = RUNS_ONCE

PROGRAM = """
import sys
import torch
whole = torch.arange(4).to("dl")
for _ in range(5):
    whole * 3
torch.ones(3).to("dl").sin()
torch.linalg.eigvalsh(torch.eye(2).to("dl"))
whole.mul(whole)
"""


@pytest.fixture(scope="module")
def declining(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    vendor = StubVendor(tmp_path_factory.mktemp("declining"))
    return vendor.compile(Path(__file__).with_name("declining_vendor.cpp")).variables()


class Runner:
    """Runs programs in a folder under ``dl coverage``."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        self.folder, self.variables = folder, variables
        self.report = folder / "report.json"

    def command(self, *arguments: str) -> list[str]:
        options = ["--json", str(self.report), "--force", "--program"]
        return [sys.executable, "-m", "dl_core", "coverage", *options, *arguments]

    def write(self, program: str, name: str = "train.py") -> str:
        path = self.folder / name
        path.write_text(textwrap.dedent(program), encoding="utf-8")
        return str(path)

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            env={**os.environ, **self.variables, **variables},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    def ranking(self) -> dict[str, Any]:
        return json.loads(self.report.read_text(encoding="utf-8"))


@pytest.fixture
def runner(declining: dict[str, str], tmp_path: Path) -> Runner:
    return Runner(tmp_path, declining)


def counts(found: dict[str, Any]) -> dict[str, int]:
    return {each["operator"]: each["count"] for each in found["implement_next"]}


def test_what_the_vendor_lacks_is_ranked_with_its_words(runner: Runner) -> None:
    done = runner.run(runner.write(PROGRAM))
    assert done.returncode == 0 and done.stderr == "", done.stderr
    found = runner.ranking()
    assert counts(found) == {"diopiMulScalar": 5, "diopiSin": 1}
    times = [each["nanoseconds"] for each in found["implement_next"]]
    assert times == sorted(times, reverse=True) and min(times) > 0
    scalar = next(x for x in found["implement_next"] if x["operator"] == "diopiMulScalar")
    assert scalar["overloads"] == ["mul.Tensor"]
    words = "diopiMulScalar declined: int64 scalar is not supported"
    assert scalar["reasons"][0]["text"] == words and words in done.stdout
    assert [x["overload"] for x in found["others"]] == ["_linalg_eigh"]
    assert found["native_calls"] == 1 and found["cpu_calls"] == 7
    assert "Implement next" in done.stdout and "vendor stub has no diopiSin" in done.stdout


def test_arguments_output_and_exit_code_are_the_programs(runner: Runner) -> None:
    program = runner.write(
        PROGRAM
        + """
print("argv", sys.argv[1:], __name__)
print("on stderr", file=sys.stderr)
sys.exit(3)
"""
    )
    done = runner.run(program, "--json", "x.json", "--tier", "A", "-m", "--program", "")
    assert done.returncode == 3
    given = "['--json', 'x.json', '--tier', 'A', '-m', '--program', '']"
    assert f"argv {given} __main__\n" in done.stdout and done.stderr == "on stderr\n"
    assert (
        counts(runner.ranking())["diopiMulScalar"] == 5 and not (runner.folder / "x.json").exists()
    )


def test_a_module_runs_too(runner: Runner) -> None:
    runner.write(PROGRAM + "print(sys.argv[1:])", "trains.py")
    done = runner.run("-m", "trains", "--epochs", "2")
    assert done.returncode == 0 and "['--epochs', '2']" in done.stdout
    assert counts(runner.ranking())["diopiMulScalar"] == 5


@pytest.mark.parametrize(
    ("end", "code", "counted"),
    [
        ("raise ValueError('it fails')", 1, True),
        ("torch.dl.reset_fallback_stats()", 0, True),
        ("import atexit; atexit.register(lambda: whole * 3)", 0, True),
        ("import os; os._exit(0)", 2, False),
        ("import os; os._exit(5)", 5, False),
        ("import os; os.kill(os.getpid(), 11)", 139, False),
        ("import os; os.kill(os.getpid(), 9)", 137, False),
        ("import signal, os; os.kill(os.getpid(), signal.SIGINT)", 130, True),
        ("import os; os.close(1); os.close(2)", 0, True),
        ("import os, shutil; shutil.rmtree(os.environ['DL_COVERAGE_FOLDER'])", 2, False),
        ("import os; os.fork() or os._exit(0); os.wait()", 0, True),
        ("import os, gc; os.fork() or sys.exit(0); os.wait()", 0, True),
    ],
)
def test_a_program_may_end_in_any_way(runner: Runner, end: str, code: int, counted: bool) -> None:
    done = runner.run(runner.write(f"{PROGRAM}\n{end}\n"))
    assert done.returncode == code, done.stdout + done.stderr
    found = runner.ranking()
    assert found["exit_code"] == (code if code != 2 else 0)
    if counted:
        assert counts(found)["diopiMulScalar"] in (5, 6)
        assert found["processes"] == 1 and found["processes_without_counts"] == 0
    else:
        assert found["implement_next"] == []
        assert "Implement next" not in done.stdout
        assert done.stderr.rstrip().rpartition("\n")[2].startswith("dl coverage: the program")


def test_processes_that_it_starts_are_counted_too(runner: Runner) -> None:
    runner.write(PROGRAM, "worker.py")
    program = runner.write(
        PROGRAM
        + """
import os, subprocess
for end in ("", "import os; os._exit(1)"):
    code = open("worker.py").read() + end
    subprocess.run([sys.executable, "-c", code])
"""
    )
    done = runner.run(program)
    assert done.returncode == 0, done.stderr
    found = runner.ranking()
    assert counts(found)["diopiMulScalar"] == 10
    assert (found["processes"], found["processes_without_counts"]) == (2, 1)
    assert "The calls of 1 process are missing" in done.stdout


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("print('nothing')", "the program did not import torch, or it disabled the dl device"),
        ("import torch; torch.ones(2) * 2", "the program ran no operator on dl"),
        ("", "the program did not import torch"),
    ],
)
def test_a_program_without_dl_leaves_the_verdict_open(
    runner: Runner, program: str, said: str
) -> None:
    done = runner.run(runner.write(program))
    assert done.returncode == 2 and done.stderr.startswith(f"dl coverage: {said}")
    done = runner.run(runner.write(f"{program}\nraise SystemExit(4)\n"))
    assert done.returncode == 4 and said in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["missing.py"], 127, "the program missing.py does not exist"),
        ([], 2, "--program needs a script, or -m and a module"),
        (["-m"], 2, "-m needs a module name"),
    ],
)
def test_a_program_that_does_not_exist_is_named(
    runner: Runner, arguments: list[str], code: int, said: str
) -> None:
    done = runner.run(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(f"dl coverage: {said}") and not runner.report.exists()


def test_without_a_device_nothing_runs(runner: Runner) -> None:
    done = runner.run(runner.write("print('it ran')"), DL_VENDORS="no_such_vendor")
    assert done.returncode == 2 and done.stdout == ""
    assert "no_such_vendor" in done.stderr


def test_options_of_the_other_report_are_refused(runner: Runner) -> None:
    command = runner.command(runner.write(PROGRAM))
    command[4:4] = ["--tier", "A"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 2 and "do not apply to --program" in done.stderr


def test_a_report_is_not_replaced_without_force(runner: Runner) -> None:
    runner.report.write_text("kept")
    command = [each for each in runner.command(runner.write(PROGRAM)) if each != "--force"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 2 and runner.report.read_text() == "kept"
    assert "--force" in done.stderr and "Implement" not in done.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_program_and_its_counts_are_reported(
    runner: Runner, number: signal.Signals
) -> None:
    program = runner.write(
        "import signal; signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\n".join(
            PROGRAM.split("import torch\n", 1)
        ).replace("import sys", "import sys, time, torch")
        + "open('started', 'w').close()\ntime.sleep(60)\n"
    )
    with subprocess.Popen(
        runner.command(program),
        env={**os.environ, **runner.variables},
        cwd=runner.folder,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        started, deadline = runner.folder / "started", time.monotonic() + SECONDS
        while not started.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        if number == signal.SIGINT:  # as a terminal sends it
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        process.communicate(timeout=SECONDS)
    assert process.returncode == 128 + number
    assert counts(runner.ranking())["diopiMulScalar"] == 5

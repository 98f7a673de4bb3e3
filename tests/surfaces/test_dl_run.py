"""``dl run`` runs a program as Python would, on dl."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from core.processes import SECONDS

SAYS = """
import os, sys
import __main__
print(sys.argv)
print(__name__, __main__.__file__, sys.path[0])
print(os.environ.get("ACCELERATE_TORCH_DEVICE"), os.environ.get("DL_FALLBACK"))
if "--exit" in sys.argv:
    sys.exit(7)
if "--raise" in sys.argv:
    def inner():
        raise ValueError("on purpose")
    inner()
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "says.py"
    path.write_text(SAYS)
    return path


def done(*command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.parametrize(
    "program",
    [
        ["says.py"],
        ["says.py", "--exit", "-m", "--mock-cuda", "--", "x"],
        ["says.py", "--raise"],
        ["-m", "says", "--exit", "-h"],
        ["-m", "says", "--raise"],
        ["missing.py"],
        ["-m", "missing"],
    ],
)
def test_a_program_runs_as_under_python(program: list[str], script: Path) -> None:
    framework = {"ACCELERATE_TORCH_DEVICE": "dl"}
    plain = done(*program, folder=script.parent, **framework)
    ours = done("-m", "dl_core", "run", *program, folder=script.parent)
    assert (ours.returncode, ours.stdout, ours.stderr) == (
        plain.returncode,
        plain.stdout,
        plain.stderr,
    )
    assert (ours.returncode == 7) == ("--exit" in program)


def test_settings(script: Path) -> None:
    run = ("-m", "dl_core", "run", "--fallback", "error", "says.py")
    assert done(*run, folder=script.parent).stdout.splitlines()[-1] == "dl error"
    # An explicitly requested device has precedence.
    kept = done(*run, folder=script.parent, ACCELERATE_TORCH_DEVICE="cpu")
    assert kept.stdout.splitlines()[-1] == "cpu error"


def test_options_of_the_interpreter_stay(tmp_path: Path) -> None:
    path = tmp_path / "warns.py"
    path.write_text("import warnings\nwarnings.warn('told')\n")
    ours = done("-W", "error", "-m", "dl_core", "run", str(path), folder=tmp_path)
    assert ours.returncode == 1 and "UserWarning: told" in ours.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--vendors", "absent", "says.py"], "no dl device is visible. DL_VENDORS asks for absent"),
        (["--vendors", "a b", "says.py"], "DL_VENDORS='a b' is ignored"),
        (["-m"], "-m needs a module name"),
        ([], "required"),
        (["--fallback", "maybe", "says.py"], "invalid choice: 'maybe'"),
    ],
)
def test_impossible_requests_are_reported_before_the_start(
    arguments: list[str], said: str, script: Path
) -> None:
    ours = done("-m", "dl_core", "run", *arguments, folder=script.parent)
    assert ours.returncode == 2 and said in ours.stderr and not ours.stdout


def test_without_autoload_there_is_no_device(script: Path) -> None:
    off = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    ours = done("-m", "dl_core", "run", "says.py", folder=script.parent, **off)
    assert ours.returncode == 2 and "TORCH_DEVICE_BACKEND_AUTOLOAD" in ours.stderr

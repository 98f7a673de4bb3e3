"""A training script for CUDA runs on dl, unchanged, and computes the same as its version for dl."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from core.processes import SECONDS, output, run

SCRIPT = Path(__file__).parent / "programs" / "train_cuda.py"


def translate_to_dl(script: str) -> str:
    """Return the script for dl: every device name replaced, except torch.backends.cuda."""
    script = re.sub(r"(?<!backends\.)\bcuda\b", "dl", script).replace("is_cuda", "is_dl")
    # The default device of GradScaler is always CUDA.
    return script.replace("GradScaler()", 'GradScaler("dl")')


def run_script(command: list[str], checkpoint: Path) -> str:
    """Return the output of a training script."""
    done = subprocess.run(
        [*command, "--checkpoint", str(checkpoint)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_losses_are_those_of_the_script_for_dl(tmp_path: Path) -> None:
    script = tmp_path / "train_dl.py"
    script.write_text(translate_to_dl(SCRIPT.read_text(encoding="utf-8")), encoding="utf-8")
    assert "cuda:0" not in script.read_text(encoding="utf-8")
    command = [sys.executable, "-W", "error", "-m", "dl_core", "run", "--mock-cuda"]
    mocked = run_script([*command, str(SCRIPT)], tmp_path / "mocked.pt")
    own = run_script([sys.executable, str(script)], tmp_path / "own.pt")
    losses = [float.fromhex(text) for text in mocked.split()]
    assert len(losses) == 6 and losses[-1] < losses[0]
    assert mocked == own


def test_without_it_the_script_fails(tmp_path: Path) -> None:
    call = f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    done = run(f"import runpy, sys; sys.argv += ['--checkpoint', 'x']; {call}")
    assert done.returncode != 0 and "AssertionError" in done.stderr


@pytest.mark.parametrize(
    ("value", "device"), [("1", "dl:0"), ("0", "refused"), ("maybe", "refused")]
)
def test_the_variable_turns_it_on(value: str, device: str) -> None:
    code = """
        import torch
        try:
            print(torch.ones(1, device="cuda").device)
        except AssertionError:
            print("refused")
    """
    assert output(code, DL_MOCK_CUDA=value) == device


def test_nothing_of_it_is_imported_unasked() -> None:
    code = """
        import sys, torch
        assert torch.dl.is_available()
        print([name for name in sys.modules if "mock_cuda" in name])
    """
    assert output(code) == "[]"

"""The two lines of ditorch's documentation, and scripts that begin with them."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest


def run(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a new interpreter, which has no variables of dl but these."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DIPU_", "DL_"))}
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**kept, "PYTHONPATH": path, "DL_VENDORS": "cpu", **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_a_cuda_program_trains_after_the_two_documented_lines() -> None:
    done = run("""
        import torch
        import ditorch

        model = torch.nn.Linear(4, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(torch.ones(3, 4, device="cuda")).square().sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        torch.cuda.synchronize()
        print(torch.cuda.is_available(), model.weight.device.type)
    """)
    first, second = done.stdout.splitlines()
    assert first.startswith("ditorch.framework: dl_core:") and "arch: cpu" in first
    assert second == "True dl" and done.stderr == ""


@pytest.mark.parametrize("variable", ["DITORCH_DISABLE_MOCK=1", "DL_MOCK_CUDA=0"])
def test_mocking_can_be_disabled(variable: str) -> None:
    name, _, value = variable.partition("=")
    done = run("import torch, ditorch; print(torch.cuda.is_available())", **{name: value})
    assert done.stdout.splitlines()[1] == "False"


def test_without_a_device_a_warning_says_so_and_the_script_goes_on() -> None:
    done = run("import torch, ditorch; print(repr(ditorch.framework))", DL_DISABLE="all")
    assert done.stdout == "''\n"
    assert done.stderr.count("ditorch: there is no dl device") == 1


def test_a_package_of_that_name_in_the_same_place_wins(tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "src" / "ditorch.py"
    (tmp_path / "ditorch").mkdir()
    (tmp_path / "ditorch" / "__init__.py").write_text("print('theirs')\n")
    (tmp_path / "ditorch.py").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import ditorch"
    assert run(code).stdout == "theirs\n"


def test_the_wheel_holds_nothing_else() -> None:
    try:
        files = importlib.metadata.files("dl-ditorch-compat") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("dl-ditorch-compat is not installed as a wheel")
    ours = [str(x) for x in files if ".dist-info" not in str(x) and "__pycache__" not in str(x)]
    assert ours == ["ditorch.py"]

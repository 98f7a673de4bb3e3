"""README.md, .ci/run and the examples are consistent with each other."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_ci_runs_the_commands_at_the_top_of_the_readme() -> None:
    top = (ROOT / "README.md").read_text().split("\n\n")[1]
    train, tests = (line.split("#")[0].strip() for line in top.splitlines())
    assert (train, tests) == ("tools/nox -s train", "tools/nox -s tests")
    script = (ROOT / ".ci" / "run").read_text()
    assert f"\n{tests} " in script
    assert re.search(r"^tools/nox -s .*\btrain -- --quick\b", script, re.MULTILINE)


def test_scripts_are_valid_shell() -> None:
    for script, shell in ((".ci/run", "bash"), ("tools/nox", "sh")):
        subprocess.run([shell, "-n", str(ROOT / script)], check=True)


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples_name_no_package_of_this_repository(script: Path) -> None:
    assert not re.findall(r"\bdl\b|\bdl_\w+|diopi\w*", script.read_text())

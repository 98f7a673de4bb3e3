from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from dl_optools import plugin
from dl_optools.launching.launch import TOOL_NAMES
from programs import environment

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_example_runs(tmp_path: Path) -> None:
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(tmp_path),
        cwd=tmp_path,
        text=True,
        capture_output=True,
    )
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_every_tool_and_command_is_listed() -> None:
    for each in TOOL_NAMES:
        assert f"| `{each.name}` | `Op" in README and f"`{each.feature}`" in README
    for command in plugin.dl_cli_commands():
        assert f"`dl {command.name}" in README

"""The examples of the pages in docs/ run and print what the pages show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.site.examples import Block, Command, blocks, missing_output, unexplained

ROOT = Path(__file__).parents[2]
PAGES = [
    path
    for path in sorted(ROOT.glob("docs/**/*.md"))
    if any(x.language in ("python", "console") and x.reason is None for x in blocks(path))
]


class Shell:
    """The shell of a reader, with the CPU reference as its device unless a page sets another."""

    def __init__(self, folder: Path) -> None:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        self._folder = folder
        self._env = {**os.environ, "PATH": path, "DL_VENDORS": "cpu"}

    def run(self, line: str) -> str:
        """Run a command line and return its output; later lines see exported variables."""
        if line.startswith("export "):
            both = self._run(f"{line} && env -0").split("\0")
            self._env = dict(each.split("=", 1) for each in both if each)
            return ""
        return self._run(line)

    def _run(self, line: str) -> str:
        command = ["bash", "-c", line]
        done = subprocess.run(
            command, cwd=self._folder, env=self._env, capture_output=True, text=True, check=False
        )
        said = f"{done.stdout}{done.stderr}"
        assert done.returncode == 0, f"{line}: exit code {done.returncode}\n{said}"
        return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    for number, block in enumerate(blocks(page)):
        if block.title:
            file = tmp_path / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text)
        elif block.reason is not None:
            continue
        elif block.language == "python":
            (tmp_path / f"block{number}.py").write_text(block.text)
            shell.run(f"python block{number}.py")
        elif block.language == "console":
            for command in block.commands():
                output = shell.run(command.line)
                missing = missing_output(command, output)
                assert missing is None, f"{command.line} does not print {missing!r}:\n{output}"


@pytest.mark.parametrize(
    "page",
    sorted(ROOT.glob("docs/**/*.md")),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_every_block_of_a_page_runs_or_has_a_reason(page: Path) -> None:
    assert unexplained(page) == []


def test_blocks_without_a_reason_are_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Text.\n\n    dl a\n\n<!-- not run: slow -->\n\n    dl b\n\n    dl c\n\n"
        "```yaml\nd: 1\n```\n\n"
        '```yaml title="e.yaml"\ne: 1\n```\n\n```text\n    f\n```\n\n- item\n'
    )
    assert unexplained(page) == ["d: 1", "dl a"]


def test_later_commands_see_exported_variables(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.run("export X=$PWD/y Z=1")
    assert shell.run('echo "$X $Z $DL_VENDORS"') == f"{tmp_path}/y 1 cpu\n"


def test_blocks_have_their_titles_commands_and_reasons(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '```python title="a.py"\nprint(1)\n```\n\n<!-- not run: needs a GPU -->\n\n'
        "```console\n$ python a.py\n1\n\n$ ls\n```\n"
    )
    first, second = blocks(page)
    assert first == Block("python", "print(1)\n", "a.py")
    assert second.reason == "needs a GPU"
    assert second.commands() == [Command("python a.py", ["1"]), Command("ls")]


def test_output_must_have_the_lines_in_order() -> None:
    command = Command("x", ["a", "c"])
    assert missing_output(command, "a\nb\n c\n") is None
    assert missing_output(command, "c\na\n") == "c"

"""The examples of the pages in docs/ run and print what the pages show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.site.examples import Block, Command, blocks, missing_output

ROOT = Path(__file__).parents[2]
PAGES = [
    path
    for path in sorted(ROOT.glob("docs/**/*.md"))
    if any(x.language in ("python", "console") and x.reason is None for x in blocks(path))
]


def run(line: str, folder: Path) -> str:
    """Run a command line as a reader would, on the CPU reference, and return its output."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "DL_VENDORS": "cpu"}
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{line}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    for number, block in enumerate(blocks(page)):
        if block.title:
            file = tmp_path / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text)
        elif block.reason is not None:
            continue
        elif block.language == "python":
            (tmp_path / f"block{number}.py").write_text(block.text)
            run(f"python block{number}.py", tmp_path)
        elif block.language == "console":
            for command in block.commands():
                output = run(command.line, tmp_path)
                missing = missing_output(command, output)
                assert missing is None, f"{command.line} does not print {missing!r}:\n{output}"


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

"""Record the first minutes of a user in a terminal as a drawing, docs/assets/session.svg.

    .nox/environment/bin/python -m tools.site.recording

The commands run as they are shown, on the CPU reference, in an environment like that of the README:
wheels that it does not install are disabled.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tools.site.examples import blocks

ROOT = Path(__file__).parents[2]
DRAWING = ROOT / "docs" / "assets" / "session.svg"
_LESSON = ROOT / "docs" / "tutorials" / "wrong-operator.md"
_COLUMNS = 108
COMMANDS = (
    """python -c "import torch; print(torch.ones(3, device='dl') * 2)\"""",
    "dl doctor",
    "dl diagnose -- python wrong.py",
)
_SETUP = "pip install -q --no-build-isolation --no-deps --target site ./fault"
"""Command of the lesson that plants the fault, in a folder that only the last command uses."""
_NOT_IN_README = "ascend,cambricon,cuda,gpu-sim,opencl,rocm,vendor_kit"
# Background, text, and the eight colours of a terminal.
_THEME = TerminalTheme(
    (31, 36, 48),
    (226, 230, 238),
    [
        (31, 36, 48),
        (240, 113, 120),
        (130, 210, 140),
        (230, 190, 110),
        (130, 170, 255),
        (200, 150, 230),
        (120, 210, 220),
        (226, 230, 238),
    ],
)
# rich's own format loads fonts from another host, which pages of the site must not do.
_FORMAT = """<svg class="terminal" viewBox="0 0 {width} {height}" \
xmlns="http://www.w3.org/2000/svg" role="img" \
aria-label="Terminal session: import torch, dl doctor, dl diagnose">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; \
font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: arial; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" \
height="{terminal_height}" /></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" \
clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def run(line: str, folder: Path, path: str = "") -> str:
    """Run a command line, and return what it prints to both streams.

    :param path: value of ``PYTHONPATH``.
    :raises SystemExit: the command does not exist, or Python failed.
    """
    scripts = Path(sys.executable).parent
    env = {
        **os.environ,
        "PATH": os.pathsep.join([str(scripts), "/usr/local/bin", "/usr/bin", "/bin"]),
        "DL_VENDORS": "cpu",
        "DL_DISABLE": _NOT_IN_README,
        "COLUMNS": str(_COLUMNS),
        "PYTHONPATH": path,
    }
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{line}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def without_places(text: str, folder: Path) -> str:
    """Replace folders of this machine by names that a reader has."""
    text = text.replace(f"{folder}{os.sep}", "").replace(str(folder), ".")
    text = re.sub(r"/\S*/site-packages/", "…/site-packages/", text)
    text = re.sub(r"pid\d+_\d+_\d+", "pid…", text)
    text = re.sub(r"^DL_(VENDORS|DISABLE)=.*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^(\S+ +\S+ \S+ +)disabled.*\n", "", text, flags=re.MULTILINE)


def draw(session: Sequence[tuple[str, str]]) -> str:
    """Return the drawing of commands with their output."""
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True)
    for number, (line, output) in enumerate(session):
        if number:
            console.print()
        console.print(Text.assemble(("$ ", "bold green"), (line, "bold")), soft_wrap=False)
        for row in output.rstrip("\n").splitlines():
            # Long lines are cut, as in a pager.
            shown = row if len(row) <= _COLUMNS else f"{row[: _COLUMNS - 1]}…"
            console.print(Text(shown), no_wrap=True)
    drawing = console.export_svg(title="dl", theme=_THEME, code_format=_FORMAT, unique_id="session")
    return "\n".join(line.rstrip() for line in drawing.splitlines() if line.strip()) + "\n"


def main() -> int:
    """Run the commands and write the drawing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for block in blocks(_LESSON):
            if block.title:
                file = folder / block.title
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.text)
        run(_SETUP, folder)
        site = str(folder / "site")
        outputs = [run(line, folder, site if line == COMMANDS[-1] else "") for line in COMMANDS]
        session = [
            (line, without_places(output, folder))
            for line, output in zip(COMMANDS, outputs, strict=True)
        ]
    DRAWING.write_text(draw(session), "utf-8")
    print(f"{DRAWING.relative_to(ROOT)}: {len(session)} commands")
    return 0


if __name__ == "__main__":
    sys.exit(main())

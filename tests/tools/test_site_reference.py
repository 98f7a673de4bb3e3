"""Reference pages of the site agree with what they are generated from."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import pytest

from diopi_proto.schema import load
from dl_core import config
from dl_core.commands import Command
from tools.site.reference import GENERATORS
from tools.site.reference.c_headers import header_page
from tools.site.reference.commands import command_page
from tools.site.reference.docstrings import attributes, described
from tools.site.reference.names import Source, public_names
from tools.site.reference.operators import callers
from tools.site.reference.plugins import OwnedCommand
from tools.site.reference.python_api import PAGES, api_page
from tools.site.reference.variables import meaning

HEADER = """/* Beginning of x_y. */
#ifndef X_H_
#define X_H_
#include <stdint.h>

/* A pair. */
typedef struct pair {
  int first; /* one */

  int second;
} pair_t;

int add(pair_t* pair);
#endif
"""


ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _sources_of_all_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the sources of wheels that are not installed because their compiler is missing."""
    sources = sorted(map(str, ROOT.glob("packages/*/src")))
    monkeypatch.setattr(sys, "path", [*sys.path, *sources])


def pages(name: str) -> dict[str, str]:
    return dict(GENERATORS[name].pages())


def test_each_operator_has_an_entry_with_its_aten_operators() -> None:
    text = "\n".join(pages("operators").values())
    assert all(text.count(f"\n## {name}\n") == 1 for name in load())
    assert "relu_" in callers()["diopiRelu"]


def test_every_setting_is_listed_with_its_aliases() -> None:
    (text,) = pages("environment-variables").values()
    for variable in config.VARIABLES:
        assert all(f"`{name}`" in text for name in variable.names)


def test_a_meaning_comes_from_the_documentation_of_the_setting(tmp_path: Path) -> None:
    source = tmp_path / "settings.py"
    source.write_text(
        'class Config:\n    x: int = 1\n    """``DL_X``: level of ``y``."""\n    z = 2\n'
    )
    docs = attributes(source, "Config")
    assert docs == {"x": "``DL_X``: level of ``y``."}
    assert meaning("DL_X", docs["x"]) == "Level of `y`."


def test_commands_of_all_wheels_are_described() -> None:
    found = pages("commands")
    for name in ("doctor", "tune", "compile", "tool", "conformance", "new-vendor"):
        assert f"# dl {name}\n" in found[f"reference/commands/{name}.md"]
    assert "`--mock-cuda`" in found["reference/commands/run.md"]


def test_a_command_page_has_arguments_and_subcommands() -> None:
    def configure(parser: argparse.ArgumentParser) -> None:
        parts = parser.add_subparsers()
        part = parts.add_parser("part", help="do a part")
        part.add_argument("file", help="file to read")
        part.add_argument(
            "--rate", type=float, default=0.5, help="rate | share (default: %(default)s)"
        )

    command = Command("all", "do all", configure, lambda _: 0)
    text = command_page(OwnedCommand("dl-x", command))
    assert "## dl all part\n\nDo a part." in text
    assert "| `file` | file to read |" in text
    assert "| `--rate RATE` | rate \\| share (default: 0.5) |" in text


def test_a_header_page_has_declarations_below_their_comments() -> None:
    text = header_page("x.h", "x", HEADER)
    assert text.startswith(
        "# x.h\n\nPart of `dl-x`.\n\nBeginning of x\\_y.\n\n## pair_t\n\nA pair."
    )
    assert "  int first; /* one */\n\n  int second;\n} pair_t;\n```" in text.replace(
        "\n\n\n", "\n\n"
    )
    assert "## add\n\n```c\nint add(pair_t* pair);\n```" in text
    assert "#include" not in text


def test_all_hooks_are_described() -> None:
    (text,) = pages("hooks").values()
    assert "## dl_vendor\n\n```python\ndef dl_vendor() -> VendorDescriptor | None: ...\n```" in text


def toy(folder: Path) -> Source:
    """Write a package with names of every kind, and return it."""
    (folder / "toys").mkdir()
    (folder / "toys" / "__init__.py").write_text(
        '"""Toys."""\n_HOME = {"play": "games"}\nfrom .shapes import Ball\nfrom os import path\n'
        'LIMIT = 3\n"""Maximum."""\n__all__ = ["Ball", "LIMIT", "path", *_HOME]\n'
    )
    (folder / "toys" / "shapes.py").write_text(
        "class Ball(Shape):\n"
        '    """A ball.\n\n    :ivar size: diameter\n        in m.\n    """\n'
        "    def roll(self, far: bool = True) -> None:\n"
        '        """Roll < it.\n\n        :raises ValueError: it is flat.\n        """\n'
        '    def _hide(self):\n        """Hide."""\n'
    )
    (folder / "toys" / "games.py").write_text('def play(*toys):\n    """Play."""\n')
    return Source(folder, "toys")


def test_public_names_are_found_without_an_import(tmp_path: Path) -> None:
    found = {x.name: x.comment for x in public_names(toy(tmp_path))}
    assert found == {"Ball": "", "LIMIT": "Maximum.", "play": ""}


def test_a_page_of_python_has_signatures_and_documentation(tmp_path: Path) -> None:
    text = api_page("toys", [toy(tmp_path)])
    assert "# toys\n\nToys.\n\n## Ball\n\n```python\nclass Ball(Shape)\n```\n\nA ball." in text
    assert "- `size`: diameter in m.\n\n**`roll`**" in text
    assert "def roll(self, far: bool=True) -> None\n```\n\nRoll &lt; it." in text
    assert "- *raises* `ValueError`: it is flat." in text
    assert "## play\n\n```python\ndef play(*toys)\n```\n\nPlay." in text
    assert "_hide" not in text


def test_examples_of_docstrings_are_code() -> None:
    assert described("Run it.\n\n>>> run()  # doctest: +SKIP\n<1>") == (
        "Run it.\n\n```pycon\n>>> run()\n<1>\n```"
    )


def test_the_public_names_of_packages_are_on_pages() -> None:
    found = pages("python-api")
    assert set(found) == {f"reference/python/{x}.md" for x in ("index", *PAGES)}
    for page, name in (
        ("torch.dl", "memory_stats"),
        ("torch.dl", "fallback_stats"),
        ("diopi_proto", "load_vendor"),
        ("dl_graph", "Session"),
        ("dl_optools", "OpAutoCompare"),
        ("dl_autotune", "TunableKernel"),
        ("dl_dicp", "Pattern"),
        ("dl_conformance", "reference"),
    ):
        assert re.search(rf"^##+ {name}$", found[f"reference/python/{page}.md"], re.MULTILINE)

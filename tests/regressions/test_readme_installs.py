"""The installation commands in READMEs install everything that their examples use."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from dl_core.commands_builtin import BUILTIN
from dl_core.first_party import WHEELS
from dl_core.manager import PluginManager
from tools.projects import tomllib

ROOT = Path(__file__).parents[2]
READMES = ("README.md", "packages/core/README.md")


def projects() -> dict[str, dict[str, Any]]:
    """Return the [project] tables of the packages, by wheel name."""
    folders = ("packages/*", "packages/compat/*")
    paths = [x for folder in folders for x in sorted(ROOT.glob(f"{folder}/pyproject.toml"))]
    tables = [tomllib.loads(path.read_text())["project"] for path in paths]
    return {table["name"]: table for table in tables}


def requirement(text: str) -> tuple[str, list[str]]:
    """Parse a requirement into its name and its extras."""
    found = re.match(r"([\w-]+)(?:\[([\w, -]*)\])?", text)
    assert found is not None, text
    return found[1], [x.strip() for x in (found[2] or "").split(",") if x.strip()]


def brought(requirements: list[str]) -> set[str]:
    """Return the wheels that pip would install, with dependencies."""
    known, found, left = projects(), set[str](), [requirement(x) for x in requirements]
    while left:
        name, extras = left.pop()
        table = known.get(name, {})
        wanted = [] if name in found else table.get("dependencies", [])
        found.add(name)
        for extra in extras:
            wanted = [*wanted, *table["optional-dependencies"][extra]]
        left += [requirement(x) for x in wanted]
    return found


def installed_by(readme: str) -> set[str]:
    lines = re.findall(r"^ {4}(pip install .*)$", (ROOT / readme).read_text(), re.MULTILINE)
    assert len(lines) == 1, f"{readme} has {len(lines)} lines that install"
    words = shlex.split(lines[0])[2:]
    if words[0] == "--find-links":
        words = words[2:]
    return brought(words)


def commands_of(distributions: set[str]) -> dict[str, str]:
    """Return the commands of `dl` that these distributions declare, each with its distribution."""
    manager = PluginManager()
    manager.load()
    found = {command.name: "dl-core" for command in BUILTIN}
    for record, commands in manager.call("dl_cli_commands"):
        found |= {command.name: record.distribution for command in commands}
    return {name: owner for name, owner in found.items() if owner in distributions}


@pytest.mark.parametrize("readme", READMES)
def test_what_a_readme_installs_has_the_commands_that_it_shows(readme: str) -> None:
    text = (ROOT / readme).read_text()
    shown = set(re.findall(r"(?:^ {4}|`)dl ([a-z][a-z-]*)", text, re.MULTILINE))
    assert len(shown) > 1
    assert shown <= commands_of(installed_by(readme)).keys()


@pytest.mark.parametrize("readme", READMES)
def test_what_a_readme_installs_has_what_its_code_imports(readme: str) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / readme).read_text(), re.DOTALL))
    modules = set(re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)) - {"pathlib"}
    assert "torch" in modules
    wheels = {"diopi_proto": "dl-diopi-proto"}
    assert {wheels.get(module, module) for module in modules} <= installed_by(readme)


def test_the_readme_brings_a_vendor_and_the_tools() -> None:
    assert {"torch", "dl-core", "dl-vendor-cpu", "dl-optools"} <= installed_by("README.md")


def test_core_knows_the_commands_of_the_other_wheels() -> None:
    """Messages about missing wheels use ``WHEELS``."""
    owners: dict[str, list[str]] = {}
    for command, wheel in sorted(commands_of(set(projects())).items()):
        owners.setdefault(wheel, []).append(command)
    del owners["dl-core"]
    assert {name: list(wheel.commands) for name, wheel in WHEELS.items()} == owners
    assert projects()["dl-core"]["optional-dependencies"]["tools"] == list(WHEELS)

"""The list of packages agrees with their metadata, and documents name existing paths."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
ROW = re.compile(
    r"^\| \[`(packages/[\w/-]+)`\]\(\.\./\.\./(packages/[\w/-]+)\) \| (.+) \|$", re.MULTILINE
)

MAXIMUM_LINES = 100
"""Maximum length of a package's README: what it is, installation, an example and links."""
MAXIMUM_LINES_OF_FIRST = 120
"""Maximum length of README.md of the repository: about two screens."""

Row = tuple[str, str, str]
"""Name of the wheel, import name, and one-line summary."""


def read_table(text: str) -> dict[str, Row]:
    """Return the rows of the table of packages, by folder."""
    found = {}
    for shown, folder, rest in ROW.findall(text):
        assert shown == folder
        name, imported, summary, _ = rest.split(" | ")
        found[folder] = (name, imported.strip("`"), summary)
    return found


def declared(root: Path) -> dict[str, Row]:
    """Return the rows that follow from each pyproject.toml."""
    found = {}
    patterns = ("packages/*/pyproject.toml", "packages/compat/*/pyproject.toml")
    for path in sorted(path for pattern in patterns for path in root.glob(pattern)):
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        sources = path.parent / "src"
        (imported,) = {
            *(module.stem for module in sources.glob("*.py")),
            *(package.parent.name for package in sources.glob("*/__init__.py")),
        }
        folder = path.parent.relative_to(root).as_posix()
        found[folder] = (project["name"], imported, project["description"])
    return found


def test_the_page_lists_packages_as_they_declare_themselves() -> None:
    page = ROOT / "docs" / "reference" / "packages.md"
    assert read_table(page.read_text(encoding="utf-8")) == declared(ROOT)


def test_every_vendor_is_a_package() -> None:
    assert {path.as_posix() for path in ROOT.glob("packages/vendor-*")} <= {
        (ROOT / folder).as_posix() for folder in declared(ROOT)
    }


def test_a_row_that_differs_is_noticed(tmp_path: Path) -> None:
    package = tmp_path / "packages" / "vendor-toy"
    (package / "src" / "dl_vendor_toy").mkdir(parents=True)
    (package / "src" / "dl_vendor_toy" / "__init__.py").touch()
    (package / "pyproject.toml").write_text('[project]\nname = "dl-toy"\ndescription = "A toy"\n')
    folder = "[`packages/vendor-toy`](../../packages/vendor-toy)"
    right = f"| {folder} | dl-toy | `dl_vendor_toy` | A toy | never |"
    assert read_table(right) == declared(tmp_path)
    for part in ("A toy", "dl-toy", "`dl_vendor_toy`"):
        assert read_table(right.replace(part, "other")) != declared(tmp_path)


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_paths_that_are_named_are_there(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    named = {
        path
        for path in re.findall(r"`((?:packages|tests|examples|tools)/[^`\s]*)`", text)
        if "<" not in path
    }
    linked = set(re.findall(r"\]\(((?!http)[^)#]+)\)", text))
    assert {path for path in named | linked if not list(ROOT.glob(path))} == set()
    assert len(named | linked) > 5


def long_readmes(root: Path) -> dict[str, int]:
    """Return the READMEs that exceed their maximum length, with their numbers of lines."""
    found = {}
    folders = ("packages/**", "examples/**", "tests/**", ".")
    for path in sorted(path for folder in folders for path in root.glob(f"{folder}/README.md")):
        name = path.relative_to(root).as_posix()
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > (MAXIMUM_LINES_OF_FIRST if name == "README.md" else MAXIMUM_LINES):
            found[name] = lines
    return found


def test_readmes_are_short() -> None:
    assert long_readmes(ROOT) == {}


def test_a_long_readme_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "packages" / "x").mkdir(parents=True)
    (tmp_path / "README.md").write_text("line\n" * 121)
    (tmp_path / "packages" / "x" / "README.md").write_text("line\n" * 101)
    assert long_readmes(tmp_path) == {"README.md": 121, "packages/x/README.md": 101}
    (tmp_path / "README.md").write_text("line\n" * 120)
    (tmp_path / "packages" / "x" / "README.md").write_text("line\n" * 100)
    assert long_readmes(tmp_path) == {}


def test_sessions_name_no_vendor() -> None:
    """Sessions find vendors in packages/vendor-*: a new vendor changes only its own files."""
    files = (ROOT / "noxfile.py", *ROOT.glob("tools/sessions/*.py"))
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    for path in ROOT.glob("packages/vendor-*/pyproject.toml"):
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        for name in project.get("entry-points", {}).get("dl", {}):
            assert not re.search(rf"""["']{name}["']|vendor[-_]{name}\b""", text), name

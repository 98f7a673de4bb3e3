"""Variables that packages read are documented, and dl-core knows them to suggest close names."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from dl_core import config  # noqa: E402
from dl_core.package_variables import DOCUMENTED  # noqa: E402
from tools.site.reference.variables import tables  # noqa: E402

_ROW = re.compile(r"^\|([^|]*)\|", re.MULTILINE)
_NAME = re.compile(r"`(DL_[A-Z0-9_]+)`")
_READ = re.compile(r"""(?:environ(?:\.get\(|\[)|getenv\()\s*["'](DL_[A-Z0-9_]+)["']""")
_SUFFIXES = {".py", ".c", ".cpp", ".h", ".inc"}


def variables_read(root: Path) -> set[str]:
    """Return the variables that code of the packages reads by a literal name."""
    folders = (*root.glob("packages/*"), *root.glob("packages/compat/*"))
    files = [
        path
        for folder in folders
        for part in ("src", "csrc", "include")
        for path in (folder / part).rglob("*")
        if path.suffix in _SUFFIXES
    ]
    return {name for path in files for name in _READ.findall(path.read_text("utf-8"))}


def test_the_list_has_the_variables_of_the_documents() -> None:
    rows = [cell for texts in tables().values() for text in texts for cell in _ROW.findall(text)]
    documented = {name for cell in rows for name in _NAME.findall(cell)}
    assert [*DOCUMENTED] == sorted(documented)


def test_variables_that_code_reads_are_documented() -> None:
    known = {name for variable in config.VARIABLES for name in variable.names} | {*DOCUMENTED}
    found = variables_read(ROOT)
    assert len(found) > 10
    assert found - known == set()


def test_reading_of_variables_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "packages" / "x"
    (folder / "src").mkdir(parents=True)
    (folder / "csrc").mkdir()
    (folder / "src" / "a.py").write_text('os.environ.get("DL_A"); os.environ["DL_B"]; "DL_C"')
    (folder / "csrc" / "a.cpp").write_text('std::getenv("DL_D");')
    assert variables_read(tmp_path) == {"DL_A", "DL_B", "DL_D"}

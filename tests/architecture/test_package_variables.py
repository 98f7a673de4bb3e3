"""dl-core knows the documented variables of all packages, to suggest names for misspelled ones."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from dl_core.package_variables import DOCUMENTED  # noqa: E402
from tools.site.reference.variables import tables  # noqa: E402

_ROW = re.compile(r"^\|([^|]*)\|", re.MULTILINE)
_NAME = re.compile(r"`(DL_[A-Z0-9_]+)`")


def test_the_list_has_the_variables_of_the_documents() -> None:
    rows = [cell for texts in tables().values() for text in texts for cell in _ROW.findall(text)]
    documented = {name for cell in rows for name in _NAME.findall(cell)}
    assert [*DOCUMENTED] == sorted(documented)

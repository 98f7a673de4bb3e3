"""Imports of a plugin at load time, which are part of every `import torch`."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

MODULES = sorted({entry.module for entry in entry_points(group="dl")})
MOST = 6
"""Modules of the plugin's own wheel: its packages, its version and the plugin itself."""

LOADED = """
import sys
import dl_core._entry, dl_core.manager
before = set(sys.modules)
__import__({module!r})
print(*sorted(set(sys.modules) - before))
"""


def loaded(module: str) -> list[str]:
    """Return the modules that a plugin loads in addition to dl-core's, without the standard
    library."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(module=module)],
        capture_output=True,
        text=True,
        check=True,
    )
    names = done.stdout.split()
    return [name for name in names if name.split(".")[0] not in sys.stdlib_module_names]


@pytest.mark.parametrize("module", MODULES)
def test_a_plugin_imports_little(module: str) -> None:
    own = module.split(".")[0]
    names = loaded(module)
    assert module in names
    assert [x for x in names if x.split(".")[0] not in (own, "dl_core", "diopi_proto")] == []
    assert len([x for x in names if x.split(".")[0] == own]) <= MOST, names


def test_what_a_plugin_imports_is_seen() -> None:
    assert {"diopi_proto.tolerance", "numpy"} <= set(loaded("dl_autotune.kernel"))

"""The search for interpreters of other Pythons, among scripts that report a version."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.torch_matrix.interpreters import find_interpreter

WORKING = "#!/bin/sh\necho 3.9\n"
# A shim of pyenv for a version that is not selected.
SHIM = "#!/bin/sh\necho 'pyenv: python3.9: command not found' >&2\nexit 127\n"
OTHER = "#!/bin/sh\necho 3.8\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without interpreters, and a PATH with its folder bin alone."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for name in ("PYENV_ROOT", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


PLACES = [
    "bin/python3.9",
    ".pyenv/versions/3.9.18/bin/python3.9",
    ".local/share/uv/python/cpython-3.9.18-linux-x86_64-gnu/bin/python3.9",
]


@pytest.mark.parametrize("place", PLACES)
def test_an_interpreter_is_found(home: Path, place: str) -> None:
    assert find_interpreter("3.9") is None
    write(home / place, WORKING)
    assert find_interpreter("3.9") == home / place


@pytest.mark.parametrize("text", [SHIM, OTHER])
def test_a_program_that_is_another_version_is_passed_over(home: Path, text: str) -> None:
    write(home / "bin" / "python3.9", text)
    assert find_interpreter("3.9") is None
    own = write(home / ".pyenv" / "versions" / "3.9.18" / "bin" / "python3.9", WORKING)
    assert find_interpreter("3.9") == own

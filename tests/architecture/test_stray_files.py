"""Committed files are sources, documents and data, not the output of a program."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PART = re.compile(r"[\w.][\w.+-]*", re.ASCII)
SUFFIXES = {
    *(".py", ".pyi", ".typed", ".in", ".toml", ".ini", ".yaml", ".yml", ".json", ".cmake", ".sh"),
    *(".c", ".cl", ".h", ".cpp", ".hpp", ".inc", ".cu", ".hip"),
    *(".md", ".txt", ".png", ".svg", ".css", ".js", ".jinja", ".expected"),
}
WITHOUT_SUFFIX = {
    "LICENSE",
    "NOTICE",
    "nox",
    "run",
    "with-pocl",
    ".gitignore",
    ".clang-format",
    ".clangd",
}
# Templates of projects whose build and version control must not take them for their own files.
WITHOUT_SUFFIX |= {"__dot__gitignore"}

# Wheels of earlier releases, which later ones must run.
KEPT_WHEELS = "tests/abi/releases/"
# Recorded trials of kernels, which are compressed because they are large.
RECORDED_SPACES = "benchmarks/spaces/"


def strays(paths: list[str]) -> list[str]:
    """Return the paths that are neither source, document nor data files."""
    found = []
    for path in paths:
        *_, name = parts = path.split("/")
        known = Path(name).suffix in SUFFIXES or name in WITHOUT_SUFFIX
        known = known or (path.startswith(KEPT_WHEELS) and path.endswith(".whl"))
        known = known or (path.startswith(RECORDED_SPACES) and path.endswith(".json.gz"))
        if not known or not all(PART.fullmatch(part) for part in parts):
            found.append(path)
    return found


def test_no_file_is_committed_by_mistake() -> None:
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    assert strays(done.stdout.split("\0")[:-1]) == []


def test_output_files_are_noticed() -> None:
    wrong = [
        "packages/x/-",
        "a.out",
        "core.1234",
        "build log.txt",
        "packages/y/--help",
        "x.orig",
        "dist/x.whl",
    ]
    assert strays(["packages/core/README.md", ".ci/run", *wrong]) == wrong

"""Fixtures: fixture vendors, compiled once per session and set of macros."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

import pytest
from cffi import FFI

import dl_graph
from diopi_proto import host_library
from diopi_proto.build import compile_library
from graph_vendor import compile_vendor

PACKAGE = Path(__file__).parent.parent

Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def build_vendor(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Return a function of compiler flags that returns a library, compiled once."""
    root = tmp_path_factory.mktemp("libraries")
    done: dict[tuple[str, ...], Path] = {}

    def compiled(*flags: str) -> Path:
        if flags not in done:
            key = hashlib.sha256(repr(flags).encode()).hexdigest()[:12]
            strict = ("-Wall", "-Wextra", "-Werror", *flags)
            exports = ("dl_vendor_v1", "fixture_*")
            done[flags] = compile_vendor(root / key / "libvendor.so", strict, exports=exports)
        return done[flags]

    return compiled


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Path], Path]:
    """Return a function that copies a library, so that the copy's counters begin at zero."""
    return lambda library: Path(shutil.copy(library, mkdtemp(dir=tmp_path)))


@pytest.fixture
def live_blocks() -> Callable[[Path], int]:
    """Return a function that counts the allocated memory blocks of a fixture vendor."""

    def count(path: Path) -> int:
        ffi = FFI()
        ffi.cdef("int64_t fixture_live_blocks(void);")
        return int(ffi.dlopen(str(path)).fixture_live_blocks())

    return count


@pytest.fixture(scope="session", autouse=True)
def graph_library() -> None:
    """Provide ``libdl_graph.so``: the installed one, or one built in the checkout."""
    path = dl_graph.graph_library()
    if not path.is_file():
        compile_library(
            path,
            sorted((PACKAGE / "csrc").glob("*.cpp")),
            exports=("dl_contract_*",),
            include_dirs=[PACKAGE / "include"],
        )
    assert host_library().is_file(), "build dl-diopi-proto first"


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test its own cache of verdicts."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))

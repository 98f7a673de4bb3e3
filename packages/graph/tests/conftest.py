"""Fixture vendors, compiled once per session and per set of macros."""

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
    """``build_vendor("-DFIXTURE_NAME=...")`` -> a library, compiled once."""
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
    """A function that copies a library, so that the counters of the copy begin at zero."""
    return lambda library: Path(shutil.copy(library, mkdtemp(dir=tmp_path)))


@pytest.fixture
def live_blocks() -> Callable[[Path], int]:
    """A function that returns how many blocks of memory a fixture vendor has allocated."""

    def count(path: Path) -> int:
        ffi = FFI()
        ffi.cdef("int64_t fixture_live_blocks(void);")
        return int(ffi.dlopen(str(path)).fixture_live_blocks())

    return count


@pytest.fixture(scope="session", autouse=True)
def graph_library() -> None:
    """``libdl_graph.so``: the installed one, or built into the checkout, where git ignores it."""
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
    """Give each test a cache of verdicts of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))

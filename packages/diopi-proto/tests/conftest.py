"""Fixture libraries, compiled once per session and per set of macros."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from cffi import FFI

import diopi_proto
from diopi_proto import Vendor, load_vendor
from diopi_proto.build import compile_library
from diopi_proto.vendorbuild.rules import ENTRY_SYMBOL

FIXTURES = Path(__file__).parent / "fixtures"
PACKAGE = Path(__file__).parent.parent

Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """``build("vendor.cpp", "-DFIXTURE_NAME=...")`` returns a library, compiled once."""
    root = tmp_path_factory.mktemp("libraries")
    done: dict[str, Path] = {}

    def compiled(source: str, *flags: str, **options: Any) -> Path:
        key = hashlib.sha256(repr((source, flags, sorted(options.items()))).encode()).hexdigest()
        if key not in done:
            options.setdefault("exports", (ENTRY_SYMBOL, "fixture_*"))
            done[key] = compile_library(
                root / key[:12] / f"lib{Path(source).stem}.so",
                [FIXTURES / source],
                compile_flags=["-O1", "-Wall", "-Wextra", "-Werror", *flags],
                **options,
            )
        return done[key]

    return compiled


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Path], Path]:
    """Copy of a library in a new file, so that its counters begin at zero."""
    return lambda library: Path(shutil.copy(library, mkdtemp(dir=tmp_path)))


@pytest.fixture
def library(build: Compile, copied: Callable[[Path], Path]) -> Path:
    """The plain fixture vendor: synchronous, host memory."""
    return copied(build("vendor.cpp"))


@pytest.fixture
def vendor(library: Path) -> Iterator[Vendor]:
    with load_vendor(library) as loaded:
        yield loaded


@pytest.fixture
def hidden(build: Compile, copied: Callable[[Path], Path]) -> Iterator[Vendor]:
    """An asynchronous vendor whose memory the host cannot access."""
    path = copied(
        build(
            "vendor.cpp", "-DFIXTURE_HIDDEN=1", "-DFIXTURE_DEFERRED=1", "-DFIXTURE_CAPABILITIES=0"
        )
    )
    with load_vendor(path) as loaded:
        yield loaded


class Counters:
    """Counters of the fixture vendor."""

    def __init__(self, path: Path) -> None:
        ffi = FFI()
        names = ("blocks", "instances", "streams", "events", "statuses")
        ffi.cdef("".join(f"int64_t fixture_live_{name}(void);" for name in names))
        self._library = ffi.dlopen(str(path))

    def __getattr__(self, name: str) -> int:
        return int(getattr(self._library, f"fixture_live_{name}")())


@pytest.fixture
def counters() -> type[Counters]:
    return Counters


@pytest.fixture(scope="session", autouse=True)
def host_library() -> None:
    """``libdl_host.so``: the installed one, or built into the checkout, where git ignores it."""
    path = diopi_proto.host_library()
    if path.is_file():
        return
    sources = [PACKAGE / "csrc" / "host.cpp", *sorted((PACKAGE / "csrc").glob("*/*.cpp"))]
    compile_library(
        path,
        sources,
        exports=("dl_adaptor_*", "dl_checked_*", "dl_trial"),
        include_dirs=[PACKAGE / "csrc"],
    )


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Separate cache of verdicts for each test."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``libdiopirt.so.1``: the installed one, or built from the checkout."""
    from diopi_proto.host import legacy

    path = diopi_proto.runtime_library()
    if not path.is_file():
        path = compile_library(
            tmp_path_factory.mktemp("runtime") / "libdiopirt.so.1",
            [PACKAGE / "csrc" / "diopirt.c"],
            exports=("diopi*",),
            soname="libdiopirt.so.1",
        )
    legacy.runtime_library = lambda: path  # type: ignore[assignment]
    return path

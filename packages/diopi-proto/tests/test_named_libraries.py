"""Names of missing libraries in a vendor's file: the hint for a driver that is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from diopi_proto.build import compile_library
from diopi_proto.named_libraries import missing_libraries

SOURCE = """
const char* const names[] = {
  "libtoy_driver.so.2", "/opt/toy/lib/libtoy_blas.so", "libc.so.6", "libbeside.so", "libown.so",
  "the library libsentence.so.1 is missing", "libtool.source", "lib.so", "/etc/passwd",
};
const char* name(int number) { return names[number]; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("named")
    source = folder / "names.c"
    source.write_text(SOURCE)
    (folder / "libbeside.so").touch()
    return compile_library(folder / "libown.so", [source], exports=("name*",), check=False)


def test_only_names_of_libraries_that_are_not_installed_are_listed(library: Path) -> None:
    assert missing_libraries(library, {}) == ["libtoy_driver.so.2", "/opt/toy/lib/libtoy_blas.so"]


def test_libraries_in_the_loaders_path_are_installed(library: Path, tmp_path: Path) -> None:
    (tmp_path / "libtoy_driver.so.2").touch()
    found = missing_libraries(library, {"LD_LIBRARY_PATH": f"/nonexistent:{tmp_path}"})
    assert found == ["/opt/toy/lib/libtoy_blas.so"]


def test_what_is_no_library_names_nothing(tmp_path: Path) -> None:
    empty, text = tmp_path / "libempty.so", tmp_path / "libtext.so"
    empty.touch()
    text.write_text("\0libtoy_driver.so.2\0")
    for path in (empty, text, tmp_path, tmp_path / "libmissing.so"):
        assert missing_libraries(path, {}) == []

"""Symbols that a host would call are rejected if they are data; they are never executed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from diopi_proto import AbiMismatchError, VendorLoadError, load_vendor, probe_library
from diopi_proto.elf import read_elf
from diopi_proto.inspection import inspect_library

SOURCES = {
    "constant": 'const char SYMBOL[64] = "no function";',
    "variable": "long SYMBOL[8] = {1, 2, 3};",
    "zeroed": "long SYMBOL[512];",
    "thread": "__thread long SYMBOL = 3;",
    "typed": """__asm__(".data\\n.globl SYMBOL\\n.type SYMBOL,@function\\n"
        "SYMBOL: .quad 0, 0\\n.text");""",
}
RESOLVED = """
static const long data[8] = {1, 2, 3};
static void* resolve(void) { return (void*)data; }
void SYMBOL(void) __attribute__((ifunc("resolve")));
"""


def compiled(folder: Path, source: str, symbol: str, *flags: str) -> Path:
    text, path = folder / "x.c", folder / "libx.so"
    text.write_text(source.replace("SYMBOL", symbol))
    subprocess.run(["cc", "-shared", "-fPIC", *flags, str(text), "-o", str(path)], check=True)
    return path


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("name", ["dl_vendor_v1", "diopiAdd", "diopiGetVendorName"])
def test_the_file_tells(tmp_path: Path, kind: str, name: str) -> None:
    legacy = name != "dl_vendor_v1"
    operator = "void diopiNeg(void) {}\n" if legacy else ""
    path = compiled(tmp_path, operator + SOURCES[kind], name)
    assert read_elf(path).data == {name}
    for load in (load_vendor, inspect_library):
        with pytest.raises(
            VendorLoadError, match=f"exports {name} as data, which cannot be called"
        ):
            load(path, legacy=legacy)
    if not legacy:
        assert "as data" in probe_library(path).message


def test_constants_among_the_code_are_data_too(tmp_path: Path) -> None:
    path = compiled(tmp_path, SOURCES["constant"], "dl_vendor_v1", "-Wl,-z,noseparate-code")
    with pytest.raises(VendorLoadError, match="exports dl_vendor_v1 as data"):
        load_vendor(path)


def test_functions_are_no_data(tmp_path: Path) -> None:
    path = compiled(tmp_path, "int exported = 1; void SYMBOL(void) {}", "diopiNeg")
    assert read_elf(path).data == {"exported"}
    with load_vendor(path, legacy=True) as vendor:
        assert "diopiNeg" in vendor.operators


def test_an_entry_that_resolves_to_data_is_refused_before_it_is_called(tmp_path: Path) -> None:
    # Without this option the linker of aarch64 maps constants as code, together with functions.
    options = ("-Wno-attributes", "-Wl,-z,separate-code")
    path = compiled(tmp_path, RESOLVED, "dl_vendor_v1", *options)
    with pytest.raises(AbiMismatchError, match=r"dl_vendor_v1 is at 0x\w+, which is not code"):
        load_vendor(path)
    result = probe_library(path)
    assert not result.ok and result.signal is None and "is not code" in result.message

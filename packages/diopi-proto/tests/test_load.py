"""Errors of loading, and their messages."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cffi import FFI

from diopi_proto import (
    AbiMismatchError,
    ClosedError,
    UnavailableError,
    VendorError,
    VendorLoadError,
    load_vendor,
    probe_library,
)
from diopi_proto.host import probe as probe_module
from diopi_proto.inspection import inspect_library

Compile = Callable[..., Path]


@pytest.fixture
def broken(build: Compile) -> Callable[[int], Path]:
    def compiled(case: int) -> Path:
        exports = {20: "dl_vendor_v2", 21: "fixture_nothing"}.get(case, "dl_vendor_v1")
        return build(
            "broken.c",
            f"-DFIXTURE_CASE={case}",
            "-Wno-unused-variable",
            exports=(exports, "fixture_*"),
        )

    return compiled


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(VendorLoadError, match=r"nowhere\.so does not exist"):
        load_vendor(tmp_path / "nowhere.so")
    with pytest.raises(VendorLoadError, match=r"nowhere\.so does not exist"):
        load_vendor(tmp_path / "nowhere.so", probe=True)


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "libx.so"
    path.write_text("#!/bin/sh\n" * 10)
    with pytest.raises(VendorLoadError, match="not an ELF file"):
        load_vendor(path)


def test_a_truncated_library_is_refused(library: Path) -> None:
    library.write_bytes(library.read_bytes()[:4000])
    with pytest.raises(VendorLoadError, match="cannot be read"):
        load_vendor(library)


def test_another_machine_is_named_together_with_ours(library: Path) -> None:
    content = bytearray(library.read_bytes())
    ours = struct.unpack_from("<H", content, 18)[0]
    other, name = (183, "aarch64") if ours != 183 else (62, "x86_64")
    struct.pack_into("<H", content, 18, other)
    library.write_bytes(content)
    with pytest.raises(VendorLoadError, match=rf"is for {name}.*this process runs as"):
        load_vendor(library)


@pytest.mark.parametrize("name", ["libtorch_cpu.so", "libc10.so", "libpython3.11.so.1.0"])
def test_a_library_that_needs_torch_or_python_is_refused(tmp_path: Path, name: str) -> None:
    source = tmp_path / "x.c"
    source.write_text("int dl_vendor_v1(void) { return 0; }\nint diopiAdd(void) { return 0; }\n")
    stub, path = tmp_path / name, tmp_path / "libx.so"
    subprocess.run(
        ["gcc", "-shared", "-x", "c", "/dev/null", "-o", str(stub), f"-Wl,-soname,{name}"],
        check=True,
    )
    command = [
        "gcc",
        "-shared",
        "-fPIC",
        str(source),
        "-o",
        str(path),
        "-Wl,--no-as-needed",
        str(stub),
    ]
    subprocess.run(command, check=True)
    for legacy in (False, True):
        with pytest.raises(VendorLoadError, match=f"is linked to {name}, but"):
            load_vendor(path, legacy=legacy)


@pytest.mark.parametrize(
    "rpath", ["", ".", "lib", ":$ORIGIN", "/tmp/missing-folder/lib", "{open}", "$ORIGIN/open"]
)
def test_an_rpath_that_others_can_write_to_is_refused(tmp_path: Path, rpath: str) -> None:
    """An untrusted rpath is rejected, because the loader searches it first."""
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    path = _with_rpath(tmp_path, rpath.format(open=folder))
    with pytest.raises(VendorLoadError, match="not trusted"):
        load_vendor(path)


@pytest.mark.parametrize("rpath", ["$ORIGIN", "${{ORIGIN}}/../lib:/usr/lib", "{own}"])
def test_other_rpaths_are_fine(tmp_path: Path, rpath: str) -> None:
    path = _with_rpath(tmp_path, rpath.format(own=tmp_path))
    assert inspect_library(path).rpath


def _with_rpath(folder: Path, rpath: str) -> Path:
    source, path = folder / "x.c", folder / "libx.so"
    source.write_text("int dl_vendor_v1(void) { return 0; }\n")
    # The linker drops an empty rpath.
    given = rpath or "placeholder"
    command = ["gcc", "-shared", "-fPIC", str(source), "-o", str(path), f"-Wl,-rpath,{given}"]
    subprocess.run(command, check=True)
    if not rpath:
        path.write_bytes(path.read_bytes().replace(b"placeholder\0", b"/usr/lib::\0\0"))
    return path


def test_a_missing_dependency_is_named(tmp_path: Path) -> None:
    source, stub, path = tmp_path / "x.c", tmp_path / "libaccel.so.3", tmp_path / "libx.so"
    source.write_text("int dl_vendor_v1(void) { return 0; }\n")
    subprocess.run(
        ["gcc", "-shared", "-x", "c", "/dev/null", "-o", str(stub), "-Wl,-soname,libaccel.so.3"],
        check=True,
    )
    command = [
        "gcc",
        "-shared",
        "-fPIC",
        str(source),
        "-o",
        str(path),
        "-Wl,--no-as-needed",
        str(stub),
    ]
    subprocess.run(command, check=True)
    stub.unlink()
    with pytest.raises(VendorLoadError, match=r"cannot be loaded: .*libaccel\.so\.3"):
        load_vendor(path)


def test_another_major_version_names_both(broken: Callable[[int], Path]) -> None:
    with pytest.raises(AbiMismatchError, match=r"vendor ABI 2, this dl-diopi-proto loads ABI 1"):
        load_vendor(broken(20))


def test_other_libraries_are_no_vendors(broken: Callable[[int], Path]) -> None:
    with pytest.raises(VendorLoadError, match="does not export dl_vendor_v1"):
        load_vendor(broken(21))
    with pytest.raises(VendorLoadError, match="exports no DIOPI operator"):
        load_vendor(broken(21), legacy=True)


def test_a_modern_library_is_not_taken_for_a_legacy_one(library: Path) -> None:
    with pytest.raises(VendorLoadError, match="load it without legacy"):
        load_vendor(library, legacy=True)


@pytest.mark.parametrize(
    ("case", "complaint"),
    [
        (1, "returns no instance"),
        (2, "without a table"),
        (3, "too short for its first fields"),
        (4, "without name or destroy"),
        (5, "without name or destroy"),
    ],
)
def test_broken_tables_are_refused(
    broken: Callable[[int], Path], case: int, complaint: str
) -> None:
    with pytest.raises(AbiMismatchError, match=complaint):
        load_vendor(broken(case))


def test_a_refusal_is_the_vendors_own_words(broken: Callable[[int], Path]) -> None:
    with pytest.raises(UnavailableError, match="no driver") as caught:
        load_vendor(broken(6))
    assert caught.value.code == 5
    assert caught.value.operation == "dl_vendor_v1"  # the status is too short for an operation


def test_unknown_codes_are_plain_errors_and_released(broken: Callable[[int], Path]) -> None:
    ffi = FFI()
    ffi.cdef("int64_t fixture_released(void);")
    path = broken(7)
    before = ffi.dlopen(str(path)).fixture_released()
    with pytest.raises(VendorError, match=r"from the future \(open\)") as caught:
        load_vendor(path)
    assert type(caught.value) is VendorError
    assert caught.value.code == 99
    assert ffi.dlopen(str(path)).fixture_released() == before + 1


@pytest.mark.parametrize(("case", "name"), [(10, "SIGSEGV"), (11, "SIGILL"), (12, "SIGSEGV")])
def test_a_crash_is_reported_and_survived(
    broken: Callable[[int], Path], case: int, name: str
) -> None:
    path = broken(case)
    result = probe_library(path)
    assert (result.ok, result.safe, result.signal) == (False, False, name)
    with pytest.raises(VendorLoadError, match=f"crashed with {name}"):
        load_vendor(path, probe=True)


def test_a_library_that_never_loads_is_given_up(broken: Callable[[int], Path]) -> None:
    result = probe_library(broken(13), timeout=0.5)
    assert (result.ok, result.safe, result.signal) == (False, False, None)
    assert "longer than 0.5 seconds while being loaded" in result.message


def test_the_probe_tells_why_a_library_is_refused(broken: Callable[[int], Path]) -> None:
    result = probe_library(broken(6))
    assert (result.ok, result.safe, result.signal) == (False, True, None)
    assert "no driver" in result.message
    with pytest.raises(UnavailableError, match="no driver"):
        load_vendor(broken(6), probe=True)


def test_probing_is_done_once_per_file(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    real = probe_module.try_library
    monkeypatch.setattr(
        probe_module, "try_library", lambda *a, **named: runs.append(a) or real(*a, **named)
    )
    assert probe_library(library).ok
    assert probe_library(library).ok
    assert len(runs) == 1
    with library.open("ab") as file:
        file.write(b"\0")
    assert probe_library(library).ok
    assert len(runs) == 2


def test_probing_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(VendorLoadError, match="cannot be probed"):
        probe_library(tmp_path / "nowhere.so")


def test_a_closed_vendor_refuses_everything(library: Path) -> None:
    vendor = load_vendor(library)
    tensor = vendor.tensor([1.0], "float32")
    vendor.close()
    vendor.close()
    for use in (
        lambda: vendor.empty((1,)),
        lambda: vendor.empty((0,)),
        lambda: vendor.stream(),
        lambda: vendor.op.Fill(tensor, 1),
    ):
        with pytest.raises(ClosedError, match="load it again"):
            use()
    assert tensor.numpy().tolist() == [1.0]


def test_relative_paths_work(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(library, library.parent / "libplain.so")
    monkeypatch.chdir(library.parent)
    with load_vendor("libplain.so") as vendor:
        assert vendor.name == "fixture"

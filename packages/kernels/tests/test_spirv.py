"""Tests of the discovery of clang and the SPIR-V translator, and of the edits between the steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from dl_kernels.spirv import RELEASE, SpirvError, find_spirv_tools, spirv_compiler
from dl_kernels.spirv_unit import prepare

TOOLS = ("clang++", "llvm-link", "llvm-dis", "llvm-as", "llvm-spirv")
ASSEMBLY = """\
define spir_kernel void @k(i32 %0) local_unnamed_addr #0 {
  %2 = freeze i32 %0
  %3 = freeze <2 x i64> %1
  br label %2, !llvm.loop !7
}
define spir_func void @f(i32 %0) {
!opencl.ocl.version = !{!0, !0}
!0 = !{i32 0, i32 0}
"""


def install(folder: Path, version: str, names: tuple[str, ...] = TOOLS, end: str = "") -> None:
    """Write programs that report a version."""
    for name in names:
        program = folder / f"{name}{end}"
        program.write_text(f"#!/bin/sh\necho 'Debian LLVM version {version}'\n", encoding="utf-8")
        program.chmod(0o755)


def test_tools_with_the_release_in_their_names_come_first(tmp_path: Path) -> None:
    install(tmp_path, "99.0.0")
    install(tmp_path, "99.0.0", end=f"-{RELEASE}")
    found = find_spirv_tools({"PATH": str(tmp_path)})
    assert found.clang == str(tmp_path / f"clang++-{RELEASE}")
    assert found.translate == str(tmp_path / f"llvm-spirv-{RELEASE}")


def test_tools_of_another_release_are_not_used(tmp_path: Path) -> None:
    install(tmp_path, f"{RELEASE}.0.7")
    assert find_spirv_tools({"DL_LLVM_BIN": str(tmp_path)}).link == str(tmp_path / "llvm-link")
    install(tmp_path, f"{RELEASE + 1}.0.0", ("llvm-as",))
    with pytest.raises(SpirvError, match=rf"^llvm-as of LLVM {RELEASE} is not installed"):
        find_spirv_tools({"DL_LLVM_BIN": str(tmp_path)})


def test_all_missing_tools_are_named_with_their_packages(tmp_path: Path) -> None:
    with pytest.raises(SpirvError) as error:
        find_spirv_tools({"PATH": str(tmp_path)})
    assert all(name in str(error.value) for name in TOOLS)
    assert f"clang-{RELEASE} llvm-{RELEASE} llvm-spirv-{RELEASE}" in str(error.value)


def test_freeze_becomes_a_copy_and_loop_hints_go() -> None:
    text = prepare(ASSEMBLY, group_threads=256, warp_threads=32)
    assert "  %2 = bitcast i32 %0 to i32\n" in text
    assert "  %3 = bitcast <2 x i64> %1 to <2 x i64>\n" in text
    assert "llvm.loop" not in text


def test_kernels_get_their_sizes_and_the_module_one_version() -> None:
    text = prepare(ASSEMBLY, group_threads=256, warp_threads=32)
    head = "@k(i32 %0) local_unnamed_addr #0"
    sizes = "!reqd_work_group_size !900000 !intel_reqd_sub_group_size !900001"
    assert f"{head} {sizes} {{\n" in text
    assert "@f(i32 %0) {\n" in text
    assert "!900000 = !{i32 256, i32 1, i32 1}" in text and "!900001 = !{i32 32}" in text
    assert text.count("!opencl.ocl.version") == 1


def test_without_sub_groups_kernels_have_no_size_of_them() -> None:
    text = prepare(ASSEMBLY, group_threads=64, warp_threads=64)
    assert "sub_group" not in text


def test_the_machine_header_is_for_device_code_only(tmp_path: Path) -> None:
    install(tmp_path, f"{RELEASE}.0.6")
    compiler = spirv_compiler(
        find_spirv_tools({"PATH": str(tmp_path)}),
        library="library.cl",
        prelude="prelude.h",
        machine="machine/x.h",
        group_threads=256,
        warp_threads=32,
    )
    command = compiler.compile_command("unit.hip")
    assert '-DDL_KERNELS_MACHINE="machine/x.h"' in command
    assert command[command.index("-include") + 1] == str(Path("prelude.h").absolute())
    assert compiler.suffix == ".hip"

"""Tests of the discovery of clang and the SPIR-V translator, and of the edits between the steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from dl_kernels.spirv import RELEASE, SpirvError, find_spirv_tools, spirv_compiler
from dl_kernels.spirv_unit import prepare

TOOLS = ("clang++", "llvm-link", "llvm-dis", "llvm-as", "llvm-spirv", "opt")
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


def test_variables_of_work_groups_have_no_linkage() -> None:
    text = """\
@a = linkonce_odr hidden local_unnamed_addr addrspace(3) global %"struct.S" undef, comdat, align 16
@"b c" = hidden addrspace(3) global [256 x i32] undef, align 4
@d = internal unnamed_addr addrspace(3) global [2 x i32] undef, align 4
@e = linkonce_odr addrspace(1) global i32 0, align 4
"""
    lines = prepare(text, group_threads=64, warp_threads=64).splitlines()
    assert lines[0].startswith("@a = internal local_unnamed_addr addrspace(3) global %")
    assert lines[1] == '@"b c" = internal addrspace(3) global [256 x i32] undef, align 4'
    assert lines[2:4] == text.splitlines()[2:]


def test_boolean_parameters_of_kernels_become_bytes() -> None:
    text = """\
define spir_kernel void @k(i64 noundef %0, i1 noundef zeroext %1, i1 %2) local_unnamed_addr {
  br i1 %1, label %4, label %15
4:
  %5 = select i1 %2, i64 %0, i64 0
  %15 = phi i1 [ %1, %3 ], [ false, %4 ]
}
define spir_kernel void @named(i1 noundef zeroext %flag) {
entry:
  br i1 %flag, label %flag.end, label %entry
}
define spir_func void @f(i1 %0) {
  br i1 %0, label %2, label %3
}
"""
    text = prepare(text, group_threads=64, warp_threads=64)
    assert "@k(i64 noundef %0, i8 noundef zeroext %1, i8 %2) local_unnamed_addr" in text
    assert "  %dl.flag.1 = trunc i8 %1 to i1\n" in text
    assert "  br i1 %dl.flag.1, label %4, label %15\n" in text
    assert "  %5 = select i1 %dl.flag.2, i64 %0, i64 0\n" in text
    assert "  %15 = phi i1 [ %dl.flag.1, %3 ], [ false, %4 ]\n" in text
    assert "entry:\n  %dl.flag.flag = trunc i8 %flag to i1\n" in text
    assert "  br i1 %dl.flag.flag, label %flag.end, label %entry\n" in text
    assert "@f(i1 %0) {\n  br i1 %0" in text


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

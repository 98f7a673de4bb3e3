"""Tests of the parsed operators, and of the units that a vendor compiles."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import dl_kernels.sources
from diopi_proto import include_dir as contract_dir
from dl_kernels import KernelSourceError, families, include_dir, with_used, write_units
from dl_kernels.sources import operators_in
from emulated import COMPILER, missing_compiler

FUNCTION = "diopiError_t {}(diopiContextHandle_t ctx, decltype(f(1)) x) {{\n  return f(x);\n}}\n"


def test_function_defines_an_operator() -> None:
    text = "// first line\n" + FUNCTION.format("diopiAdd") + "\n" + FUNCTION.format("dlopElu")
    assert operators_in(text) == {"diopiAdd": 2, "dlopElu": 6}


def test_macro_defines_the_operators_that_lead_its_arguments() -> None:
    text = (
        "DL_UNARY(diopiSign, SignOp, kReals)\n"
        "DL_POOL(diopiA, diopiAInp,\n        diopiABackward, 2)\n"
    )
    assert operators_in(text) == {"diopiSign": 1, "diopiA": 2, "diopiAInp": 2, "diopiABackward": 2}


def test_declarations_calls_and_functors_define_nothing() -> None:
    text = (
        "diopiError_t diopiDeclared(diopiContextHandle_t ctx);\n"
        "#define DL_UNARY(name, Op) \\\n  diopiError_t name(diopiContextHandle_t ctx) {}\n"
        "DL_FN int f(int x) { return x; }\n"
        "DL_FUNCTION(Exp, math::exp(x))\n"
        "diopiError_t helper() {\n  return diopiCalled(ctx);\n}\n"
    )
    with pytest.raises(KernelSourceError, match=r"x\.inc defines no operator"):
        operators_in(text, "x.inc")
    assert operators_in(text + FUNCTION.format("diopiAdd")) == {"diopiAdd": 9}


def test_operator_that_is_defined_twice_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KernelSourceError, match=r"diopiAdd is defined twice in a\.inc: 1 and 4"):
        operators_in(FUNCTION.format("diopiAdd") * 2, "a.inc")
    files = [tmp_path / "a.inc", tmp_path / "b.inc"]
    for path in files:
        path.write_text(FUNCTION.format("diopiAdd"), encoding="utf-8")
    monkeypatch.setattr(dl_kernels.sources, "family_files", lambda: files)
    with pytest.raises(KernelSourceError, match=r"diopiAdd is defined in a\.inc:1 and in b\.inc:1"):
        families()


@pytest.mark.parametrize("pasted", ["diopi##Name(", "diopi##Name##Inp(", "name##Backward("])
def test_pasted_names_are_refused(pasted: str) -> None:
    text = f"#define DL_X(Name) \\\n  diopiError_t {pasted}diopiContextHandle_t ctx)\n"
    with pytest.raises(KernelSourceError, match=r"a\.inc:2: .* pass the full name to the macro"):
        operators_in(text, "a.inc")


def test_units_list_every_operator_once(tmp_path: Path) -> None:
    listed, *of_families = write_units(tmp_path)
    assert [path.stem for path in of_families] == [f"family_{name}" for name in families()]
    text = listed.read_text(encoding="utf-8")
    for operators in families().values():
        for name in operators:
            assert len(re.findall(rf"DL_KERNELS_OPERATOR\(\S+, {name}\)", text)) == 1
    assert "(dl::kernels::diopiSoftmax, diopiSoftmax)" in text
    assert "(dl::kernels::promoting_diopiAdd::call, diopiAdd)" in text


def test_units_that_have_not_changed_stay_untouched(tmp_path: Path) -> None:
    before = write_units(tmp_path)
    os.utime(before[1], ns=(1, 1))
    before[2].write_text("something else\n", encoding="utf-8")
    gone = tmp_path / "family_gone.cpp"
    shutil.copy(before[1], gone)
    mine = tmp_path / "family_of_mine.cpp"
    mine.write_text("// not generated\n", encoding="utf-8")
    assert write_units(tmp_path) == before
    assert before[1].stat().st_mtime_ns == 1
    assert "dl_kernels/ops" in before[2].read_text(encoding="utf-8")
    assert mine.exists()
    assert not gone.exists()


def test_some_families_only(tmp_path: Path) -> None:
    listed, *of_families = write_units(tmp_path, suffix=".cu", only=["softmax", "copy"])
    assert [path.name for path in of_families] == ["family_copy.cu", "family_softmax.cu"]
    assert "diopiAdd)" not in listed.read_text(encoding="utf-8")
    said = "'sofmax' is not a family of kernels; the families are activation"
    with pytest.raises(ValueError, match=said):
        write_units(tmp_path, only=["sofmax"])


def test_families_share_units(tmp_path: Path) -> None:
    alone = write_units(tmp_path, only=["copy", "softmax", "tril"])
    listed, few, rest = write_units(tmp_path, only=["copy", "softmax", "tril"], together=2)
    assert (listed.name, few.name, rest.name) == (
        *("operators.cpp", "families_copy_to_softmax.cpp", "family_tril.cpp"),
    )
    assert re.findall(r"ops/(\w+)\.inc", few.read_text(encoding="utf-8")) == ["copy", "softmax"]
    assert [path.exists() for path in alone] == [True, False, False, True]


@pytest.mark.skipif(missing_compiler() is not None, reason=str(missing_compiler()))
def test_families_have_no_conflicting_names(tmp_path: Path) -> None:
    """Any two families may share a unit."""
    _, unit = write_units(tmp_path, together=len(families()))
    flags = ["-std=c++17", "-fsyntax-only", f"-I{include_dir()}", f"-I{contract_dir()}"]
    subprocess.run([*COMPILER, *flags, str(unit)], check=True)


def test_families_include_those_that_they_use(tmp_path: Path) -> None:
    def used(*chosen: str) -> set[str]:
        return set(with_used(chosen)) - set(chosen)

    # Through a function of a header, through an inline function there, and through an operator.
    assert used("avg_pooling") == {"copy", "max_pooling"}
    assert used("sort") == {"copy", "scatter"}
    assert used("foreach") == {"arithmetic", "complex", "copy", "norm"}
    # Declared next to functions that are used, but not called.
    assert used("max_pooling") == {"copy"}
    assert used("copy") == set()
    assert with_used(families()) == sorted(families())
    units = write_units(tmp_path, only=["sort"], suffix=".cu")
    assert [unit.stem for unit in units[1:]] == ["family_copy", "family_scatter", "family_sort"]


def test_parts_are_compiled_where_a_family_needs_them(tmp_path: Path) -> None:
    def names(*families: str, **options: Any) -> list[str]:
        units = write_units(tmp_path, only=families, **options)
        return [unit.name for unit in units if unit.name.startswith("part_")]

    assert names("attention", suffix=".cu") == [
        "part_attention.cu",
        "part_attention_backward.cu",
    ]
    assert names("matmul", suffix=".hip") == ["part_gemm.hip"]
    assert not list(tmp_path.glob("part_attention*"))
    assert names("convolution", suffix=".cu") == ["part_convolve.cu", "part_gemm.cu"]
    assert names("matmul", gpu=True) == ["part_gemm.cpp"]
    assert names("matmul") == []
    assert names("softmax", suffix=".cu") == []


@pytest.mark.skipif(missing_compiler() is not None, reason=str(missing_compiler()))
@pytest.mark.parametrize("diopi_convention", [False, True])
def test_units_define_what_they_list(tmp_path: Path, diopi_convention: bool) -> None:
    """A family's object defines exactly the operators that were parsed from its text."""
    only = ["arange", "copy", "tril"]
    units = write_units(tmp_path, only=only, diopi_convention=diopi_convention)
    flags = ["-std=c++17", "-O0", "-fPIC", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden"]
    flags += [f"-I{include_dir()}", f"-I{contract_dir()}"]
    flags += ["-DDIOPIRT_EXTERN"] if diopi_convention else []
    for unit in units:
        command = [*COMPILER, *flags, "-c", str(unit), "-o", str(unit.with_suffix(".o"))]
        subprocess.run(command, check=True)
    for unit in units[1:]:
        command = ["nm", "--defined-only", "-C", str(unit.with_suffix(".o"))]
        symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        lines = [line.split(" ", 2)[2] for line in symbols.splitlines()]
        defined = {
            line.removeprefix("dl::kernels::v1::").partition("(")[0]
            for line in lines
            if line.startswith(("dl::kernels::v1::diopi", "dl::kernels::v1::dlop"))
        }
        family = unit.stem.removeprefix("family_")
        assert {name.partition("[")[0] for name in defined} == set(families()[family])

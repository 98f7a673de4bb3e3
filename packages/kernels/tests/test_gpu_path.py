"""The GPU path of the kernels, on an emulated GPU: its collectives and its atomic changes.

tests/kernels judges the operators there.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from dl_kernels import include_dir
from emulated import COMPILER, EMULATION, compile_object, missing_compiler

WHY_NOT = missing_compiler()
needs_compiler = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
HEADERS = include_dir() / "dl_kernels"


def barriers(header: str) -> list[int]:
    """Positions of the barriers in a header's text."""
    text = (HEADERS / header).read_text(encoding="utf-8")
    return [match.start() for match in re.finditer(r"\b(?:gpu::)?barrier\(\);", text)]


CASES = [
    (header, at)
    for header in ("gpu/block.h", "gpu/gemm.h", "gpu/sort.h", "gpu/tiles.h")
    for at in range(len(barriers(header)))
]


@needs_compiler
def test_atomic_changes_do_not_get_lost(tmp_path: Path) -> None:
    compile_object(EMULATION / "check" / "atomics.cpp", tmp_path / "atomics.o", "-pthread")
    program = tmp_path / "atomics"
    link = [*COMPILER, "-pthread", "-o", str(program), str(tmp_path / "atomics.o")]
    subprocess.run(link, check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_compiler
@pytest.mark.parametrize(
    ("header", "right", "wrong"),
    [
        ("", "", ""),
        ("gpu/divider.h", "(rest << 32) / divisor + 1", "(rest << 32) / divisor"),
        ("gpu/row_walk.h", "if (reach > kLargest) return false;", ""),
        ("gpu/row_walk.h", "begin[k] += half *", "begin[k] += 1 *"),
        ("gpu/row_walk.h", "% alignment != 0) return false;", "% alignment > 999) return false;"),
    ],
)
def test_what_the_host_decides_for_large_tensors(
    header: str, right: str, wrong: str, tmp_path: Path
) -> None:
    if header:
        text = (HEADERS / header).read_text(encoding="utf-8")
        assert right in text
        mutated = tmp_path / "mutated" / "dl_kernels" / header
        mutated.parent.mkdir(parents=True)
        mutated.write_text(text.replace(right, wrong), encoding="utf-8")
    source, made = EMULATION / "check" / "row_walk.cpp", tmp_path / "row_walk.o"
    compile_object(source, made, f"-I{tmp_path / 'mutated'}")
    program = tmp_path / "row_walk"
    subprocess.run([*COMPILER, "-o", str(program), str(made)], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not header), done.stdout + done.stderr


def build_collectives(folder: Path) -> Path:
    """A program that compares every collective of a block with a loop."""
    flags = (f"-I{folder / 'mutated'}",)
    objects = []
    for source in (EMULATION / "check" / "collectives.cpp", *sorted(EMULATION.glob("*.cpp"))):
        if source.stem == "vendor":
            continue
        objects.append(folder / f"{source.stem}.o")
        compile_object(source, objects[-1], *flags)
    program = folder / "collectives"
    subprocess.run([*COMPILER, "-o", str(program), *map(str, objects)], check=True)
    return program


@needs_compiler
def test_collectives_agree_with_loops(tmp_path: Path) -> None:
    program = build_collectives(tmp_path)
    for seed in range(5):
        done = subprocess.run(
            [str(program)],
            env={"DL_EMULATION_SEED": str(seed)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@needs_compiler
@pytest.mark.parametrize(("header", "at"), CASES)
def test_a_missing_barrier_is_noticed(header: str, at: int, tmp_path: Path) -> None:
    text = (HEADERS / header).read_text(encoding="utf-8")
    position = barriers(header)[at]
    mutated = tmp_path / "mutated" / "dl_kernels" / header
    mutated.parent.mkdir(parents=True)
    mutated.write_text(text[:position] + ";" + text[text.index(";", position) + 1 :], "utf-8")
    program = build_collectives(tmp_path)
    codes = [
        subprocess.run(
            [str(program)],
            env={"DL_EMULATION_SEED": str(seed)},
            capture_output=True,
            check=False,
        ).returncode
        for seed in range(5)
    ]
    assert any(code != 0 for code in codes), f"barrier {at} of {header} is not needed"

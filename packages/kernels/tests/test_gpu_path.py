"""Tests of the GPU path on an emulated GPU: its collectives and its atomic updates.

tests/kernels tests the operators there.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from dl_kernels import include_dir
from emulated import CHECKED, COMPILER, EMULATION, SHAPE, compile_object, missing_compiler

WHY_NOT = missing_compiler()
needs_compiler = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
HEADERS = include_dir() / "dl_kernels"


def barriers(header: str) -> list[int]:
    """Return the positions of the barriers in a header's text."""
    text = (HEADERS / header).read_text(encoding="utf-8")
    return [match.start() for match in re.finditer(r"\b(?:gpu::)?barrier\(\);", text)]


def remove_barrier(header: str, at: int, folder: Path) -> None:
    """Write a header without one of its barriers to a folder that build_check() prefers."""
    text = (HEADERS / header).read_text(encoding="utf-8")
    position = barriers(header)[at]
    mutated = folder / "mutated" / "dl_kernels" / header
    mutated.parent.mkdir(parents=True)
    mutated.write_text(text[:position] + ";" + text[text.index(";", position) + 1 :], "utf-8")


HEADERS_WITH_BARRIERS = (
    "gpu/column_reduction.h",
    "gpu/product_simt.h",
    "gpu/reduce_columns.h",
    "gpu/shuffle_collectives.h",
    "gpu/sort.h",
    "gpu/tiles.h",
)
# Barriers that order the exchange between warps: unnecessary in a block of one warp.
BETWEEN_WARPS = {("gpu/shuffle_collectives.h", 0), ("gpu/shuffle_collectives.h", 1)}
CASES = [(header, at) for header in HEADERS_WITH_BARRIERS for at in range(len(barriers(header)))]


@needs_compiler
def test_atomic_updates_do_not_get_lost(tmp_path: Path) -> None:
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
        ("gpu/divider.h", "static_cast<uint64_t>(divisor) + 1", "static_cast<uint64_t>(divisor)"),
        ("gpu/row_walk.h", "if (reach > kLargest) return false;", ""),
        ("gpu/row_walk.h", "begin[k] += half *", "begin[k] += 1 *"),
        ("gpu/row_walk.h", "% alignment != 0) return false;", "% alignment > 999) return false;"),
    ],
)
def test_host_side_decisions_for_large_tensors(
    header: str, right: str, wrong: str, tmp_path: Path
) -> None:
    if header:
        text = (HEADERS / header).read_text(encoding="utf-8")
        assert right in text
        mutated = tmp_path / "mutated" / "dl_kernels" / header
        mutated.parent.mkdir(parents=True)
        mutated.write_text(text.replace(right, wrong), encoding="utf-8")
    source, built = EMULATION / "check" / "row_walk.cpp", tmp_path / "row_walk.o"
    compile_object(source, built, f"-I{tmp_path / 'mutated'}")
    program = tmp_path / "row_walk"
    subprocess.run([*COMPILER, "-o", str(program), str(built)], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not header), done.stdout + done.stderr


# A machine without shuffles, whose warps are whole blocks.
WITHOUT_SHUFFLES = ("64/64", "-DDL_KERNELS_NO_SHUFFLES=1")


def build_machine(folder: Path, shape: str = SHAPE) -> list[Path]:
    """Build the emulation except the vendor; its objects do not depend on the kernels' headers."""
    sources = [path for path in sorted(EMULATION.glob("*.cpp")) if path.stem != "vendor"]
    for source in sources:
        compile_object(source, folder / f"{source.stem}.o", "-O1", shape=shape)
    return [folder / f"{source.stem}.o" for source in sources]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Objects of the emulation."""
    return build_machine(tmp_path_factory.mktemp("machine"))


@pytest.fixture(scope="module")
def machine_without_shuffles(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Objects of the emulation of a machine without shuffles."""
    return build_machine(tmp_path_factory.mktemp("machine"), WITHOUT_SHUFFLES[0])


def build_check(
    folder: Path,
    machine: list[Path],
    *flags: str,
    name: str = "collectives",
    shape: str = SHAPE,
) -> Path:
    """Build a program of emulation/check that compares collectives with loops."""
    own = folder / f"{name}.o"
    flags = (f"-I{folder / 'mutated'}", *flags)
    compile_object(EMULATION / "check" / f"{name}.cpp", own, *flags, shape=shape)
    program = folder / name
    subprocess.run(
        [*COMPILER, "-o", str(program), str(own), *map(str, machine), "-ldl"], check=True
    )
    return program


@needs_compiler
def test_collectives_agree_with_loops(machine: list[Path], tmp_path: Path) -> None:
    program = build_check(tmp_path, machine)
    for seed in range(5):
        done = subprocess.run(
            [str(program)],
            env={"DL_EMULATION_SEED": str(seed)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def exit_codes(program: Path) -> list[int]:
    """Run a check with several orders of threads and return its exit codes."""
    return [
        subprocess.run(
            [str(program)],
            env={"DL_EMULATION_SEED": str(seed)},
            capture_output=True,
            check=False,
        ).returncode
        for seed in range(5)
    ]


@needs_compiler
@pytest.mark.parametrize("barrier", [True, False])
def test_collectives_through_memory_agree_with_loops_and_need_their_barrier(
    barrier: bool, machine_without_shuffles: list[Path], tmp_path: Path
) -> None:
    header = "gpu/memory_collectives.h"
    if not barrier:
        remove_barrier(header, 0, tmp_path)
    shape, flag = WITHOUT_SHUFFLES
    program = build_check(tmp_path, machine_without_shuffles, flag, shape=shape)
    codes = exit_codes(program)
    assert all(code == 0 for code in codes) == barrier


@needs_compiler
def test_convolutions_agree_with_loops(machine: list[Path], tmp_path: Path) -> None:
    program = build_check(tmp_path, machine, name="convolutions")
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_compiler
@pytest.mark.parametrize(("header", "at"), CASES)
def test_a_missing_barrier_is_noticed(
    header: str, at: int, machine: list[Path], tmp_path: Path
) -> None:
    remove_barrier(header, at, tmp_path)
    program = build_check(tmp_path, machine)
    codes = exit_codes(program)
    needed = len(set(SHAPE.split("/"))) > 1 or (header, at) not in BETWEEN_WARPS
    assert any(code != 0 for code in codes) == needed, f"barrier {at} of {header}"


FOUND = {
    "clean": "",
    "within_warp": "",
    "same_value": "",
    "atomic_sum": "",
    "handed_over": "",
    "read_behind": "out-of-bounds",
    "read_before": "out-of-bounds",
    "write_behind": "out-of-bounds",
    "write_before": "out-of-bounds",
    "read_far": "out-of-bounds",
    "not_written": "uninitialised",
    "shared_not_written": "uninitialised",
    "shared_of_another": "uninitialised",
    "not_aligned": "misaligned",
    "no_barrier": "race",
    "shuffle_for_barrier": "race",
    "barrier_of_another_warp": "race",
    "writes_what_is_read": "race",
    "two_values": "race",
    "between_blocks": "race",
    "atomic_and_plain": "race",
    "no_fence": "race",
    "ends_before": "divergent-barrier",
    "two_barriers": "divergent-barrier",
    "half_shuffles": "divergent-barrier",
}
"""Defect of each kernel of watched.cpp."""


@pytest.fixture(scope="module")
def watched(machine: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watched")
    compile_object(EMULATION / "check" / "watched.cpp", folder / "watched.o", *CHECKED)
    program = folder / "watched"
    objects = map(str, (folder / "watched.o", *machine))
    subprocess.run([*COMPILER, "-o", str(program), *objects, "-ldl"], check=True)
    return program


@needs_compiler
@pytest.mark.parametrize("seed", ["1", "2"])
@pytest.mark.parametrize("kernel", FOUND)
def test_defects_of_kernels_are_reported(watched: Path, kernel: str, seed: str) -> None:
    done = subprocess.run(
        [str(watched), kernel],
        env={**os.environ, "DL_EMULATION_SEED": seed},
        capture_output=True,
        text=True,
        check=False,
    )
    kinds = set(re.findall(r"^emulated GPU: ([\w-]+): ", done.stderr, re.MULTILINE))
    # A read that comes too early may read uninitialized memory.
    allowed = {FOUND[kernel], "uninitialised"} if FOUND[kernel] == "race" else {FOUND[kernel]}
    assert kinds <= allowed and (FOUND[kernel] or "none") in (kinds or {"none"}), done.stderr
    assert done.returncode == 0 or FOUND[kernel] in ("out-of-bounds", "divergent-barrier")

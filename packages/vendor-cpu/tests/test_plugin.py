"""Tests of the choice of a library by the processor's features."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from dl_vendor_cpu import levels, plugin

V2 = {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"}
V3 = V2 | {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
V4 = V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (V4, ["v4", "v3", "v2"]),
        (V3, ["v3", "v2"]),
        (V3 - {"fma"}, ["v2"]),
        (V4 - {"avx2"}, ["v2"]),
        (V2 - {"ssse3"}, []),
        (set(), []),
    ],
)
def test_level_needs_all_of_its_features(flags: set[str], expected: list[str]) -> None:
    assert levels.supported_levels(frozenset(flags)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Features : fp asimd asimddp", ["armv8"]),
        ("Features\t: fp asimd asimdhp fphp asimddp sve bf16 i8mm", ["sve", "armv8"]),
        ("Features : fp asimd asimdhp fphp asimddp sve", ["armv8"]),
        ("", ["armv8"]),
    ],
)
def test_levels_of_arm_processors(text: str, expected: list[str]) -> None:
    assert levels.supported_levels(levels.processor_flags(text), levels.ARM) == expected


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_compilers_know_each_level(machine: str) -> None:
    assert set(levels.known_levels(machine)) <= set(levels.ARCHITECTURES)


def test_other_machines_have_one_level() -> None:
    assert levels.known_levels("riscv64") == ["native"]


def test_flags_of_the_first_processor_count() -> None:
    text = "processor : 0\nflags\t\t: fpu avx2\n\nprocessor : 1\nflags\t\t: fpu\n"
    assert levels.processor_flags(text) == {"fpu", "avx2"}
    assert levels.processor_flags("processor : 0\n") == set()


def test_best_library_that_is_there_is_chosen(tmp_path: Path) -> None:
    assert plugin.choose_library(tmp_path, ["v4", "v3"]) is None
    (tmp_path / "libdl_vendor_cpu_v3.so").touch()
    (tmp_path / "libdl_vendor_cpu_v2.so").touch()
    assert (
        plugin.choose_library(tmp_path, ["v4", "v3", "v2"]) == tmp_path / "libdl_vendor_cpu_v3.so"
    )
    assert plugin.choose_library(tmp_path, ["v2"]) == tmp_path / "libdl_vendor_cpu_v2.so"


def test_missing_library_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(plugin, "_LIBRARIES", tmp_path)
    with pytest.raises(FileNotFoundError, match="DL_BUILD_ISA=all"):
        plugin.dl_vendor()


def test_descriptor_is_that_of_a_reference() -> None:
    descriptor = plugin.dl_vendor()
    assert (descriptor.name, descriptor.priority, descriptor.accelerator) == ("cpu", 0, False)
    assert descriptor.library.is_file()
    assert descriptor.library.is_absolute()


def test_hook_is_marked_for_the_project() -> None:
    assert hasattr(plugin.dl_vendor, "dl_impl")


def test_entry_point_names_the_plugin() -> None:
    found = [e for e in entry_points(group="dl") if e.name == "cpu"]
    if not found:
        pytest.skip("the wheel is not installed")
    assert found[0].value == "dl_vendor_cpu.plugin"

"""Tests that headers compile alone, are listed in the README, and name missing members."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from diopi_proto import include_dir as contract_dir
from dl_vendor_kit import __version__, include_dir
from test_checks import COMPILER, FLAGS

ROOT = Path(__file__).parents[1]
KIT = include_dir() / "dl" / "kit"
HEADERS = sorted(path.relative_to(KIT).as_posix() for path in KIT.rglob("*.h"))

VENDOR = """
#include "dl/kit/table.h"
struct Vendor : dl::kit::Instance {
  static constexpr const char* kName = "toy";
  static constexpr const char* kVersion = "1";
  static constexpr uint64_t kCapabilities = CAPABILITIES;
  int32_t device_count() { return 1; }
  void* memory_allocate(int32_t, uint64_t) { return nullptr; }
  void memory_free(int32_t, void*) {}
  MORE
};
DL_KIT_VENDOR(Vendor)
"""
COPY = "void memory_copy(int32_t, void*, const void*, uint64_t, int32_t, void*) {}"

WAITS = """
  void device_synchronize(int32_t) {}
  bool stream_query(int32_t, void*) { return true; }
  void* event_create(int32_t, uint64_t) { return nullptr; }
  void event_destroy(int32_t, void*) {}
  void event_record(int32_t, void*, void*) {}
  void event_synchronize(int32_t, void*) {}
  bool event_query(int32_t, void*) { return true; }
  double event_elapsed(int32_t, void*, void*) { return 0; }
"""


def compile_text(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    source = folder / "unit.cpp"
    source.write_text(text, encoding="utf-8")
    folders = [f"-I{path}" for path in (include_dir(), contract_dir())]
    command = [*COMPILER, *FLAGS, "-fsyntax-only", *folders, str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", HEADERS)
def test_header_compiles_alone(tmp_path: Path, name: str) -> None:
    done = compile_text(f'#include "dl/kit/{name}"\n', tmp_path)
    assert done.returncode == 0, done.stderr


def test_readme_lists_every_header() -> None:
    listed = re.findall(
        r"`((?:library/)?\w+\.h)`", (ROOT / "README.md").read_text(encoding="utf-8")
    )
    assert sorted(set(listed)) == HEADERS


def test_documented_examples_compile(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "vendors.md").read_text(encoding="utf-8")
    examples = re.findall(r"```cpp\n(.*?)```", text, re.DOTALL)
    assert examples
    for example in examples:
        done = compile_text(example, tmp_path)
        assert done.returncode == 0, done.stderr


def test_changelog_begins_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", text, re.MULTILINE)[0] == __version__


def test_missing_members_of_a_vendor_are_named(tmp_path: Path) -> None:
    synchronous = VENDOR.replace("CAPABILITIES", "DL_CAP_SYNCHRONOUS")
    assert compile_text(synchronous.replace("MORE", COPY), tmp_path).returncode == 0
    done = compile_text(synchronous.replace("MORE", ""), tmp_path)
    assert "a vendor has device_count, memory_allocate, memory_free and memory_copy" in done.stderr
    both = f"{COPY} void make_current(int32_t) {{}} void device_set(int32_t) {{}}"
    done = compile_text(synchronous.replace("MORE", both), tmp_path)
    assert "by the kit (make_current) or the host (device_set)" in done.stderr
    half = f"{COPY} void* stream_create(int32_t, int32_t) {{ return nullptr; }}"
    done = compile_text(synchronous.replace("MORE", half), tmp_path)
    assert "stream_create comes with stream_destroy" in done.stderr


def test_asynchronous_work_needs_ways_to_wait_for_it(tmp_path: Path) -> None:
    asynchronous = VENDOR.replace("CAPABILITIES", "0")
    done = compile_text(asynchronous.replace("MORE", COPY), tmp_path)
    assert "device_synchronize, stream_query and all six methods of events" in done.stderr
    assert compile_text(asynchronous.replace("MORE", COPY + WAITS), tmp_path).returncode == 0
    for missing in WAITS.strip().splitlines():
        less = COPY + WAITS.replace(missing, "")
        assert compile_text(asynchronous.replace("MORE", less), tmp_path).returncode != 0, missing


OPERATORS = """
#include "dl/kit/operators.h"
struct Vendor : dl::kit::Instance {
  int32_t device_count() { return 1; }
};
namespace ops {
diopiError_t diopiSoftmax(diopiContextHandle_t, diopiTensorHandle_t, diopiConstTensorHandle_t,
                          DIM);
diopiError_t normalize(diopiContextHandle_t, diopiTensorHandle_t, diopiTensorHandle_t,
                       diopiTensorHandle_t, diopiConstTensorHandle_t, diopiConstTensorHandle_t,
                       diopiConstTensorHandle_t, diopiSize_t, EPS) QUALIFIER;
}
const dl_operator_t kOperators[] = {DL_KIT_OPERATOR(Vendor, ops, diopiSoftmax),
                                    DL_KIT_OPERATOR_BY(Vendor, ops::normalize, diopiLayerNorm)};
"""


@pytest.mark.parametrize(
    ("dim", "eps", "qualifier", "named"),
    [
        ("int64_t dim", "double eps", "", ""),
        ("int64_t dim", "double eps", "noexcept", ""),
        ("int32_t dim", "double eps", "", "[diopiSoftmax] ops::diopiSoftmax"),
        ("double dim", "double eps", "", "[diopiSoftmax] ops::diopiSoftmax"),
        ("const int64_t& dim", "double eps", "", "[diopiSoftmax] ops::diopiSoftmax"),
        ("int64_t dim", "bool eps", "", "[diopiLayerNorm] ops::normalize"),
        ("int64_t dim", "float eps", "", "[diopiLayerNorm] ops::normalize"),
    ],
)
def test_operator_of_another_type_does_not_compile(
    tmp_path: Path, dim: str, eps: str, qualifier: str, named: str
) -> None:
    words = {"DIM": dim, "EPS": eps, "QUALIFIER": qualifier}
    text = OPERATORS
    for word, replacement in words.items():
        text = text.replace(word, replacement)
    done = compile_text(text, tmp_path)
    assert (done.returncode == 0) == (not named), done.stderr
    if named:
        message = f"{named} does not have the type that its header in diopi/ declares"
        assert message in done.stderr


@pytest.mark.parametrize(
    ("right", "narrow"),
    [
        ("memory_allocate(int32_t, uint64_t)", "memory_allocate(int32_t, uint32_t)"),
        ("const void*, uint64_t, int32_t, void*", "const void*, int, int32_t, void*"),
        ("memory_free(int32_t, void*)", "memory_free(bool, void*)"),
    ],
)
def test_method_that_cuts_off_an_argument_of_its_slot_does_not_compile(
    tmp_path: Path, right: str, narrow: str
) -> None:
    text = VENDOR.replace("CAPABILITIES", "DL_CAP_SYNCHRONOUS").replace("MORE", COPY)
    assert right in text
    done = compile_text(text.replace(right, narrow), tmp_path)
    assert done.returncode != 0
    assert "takes an integer of its slot as a narrower type" in done.stderr

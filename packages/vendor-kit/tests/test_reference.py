"""The page docs/reference.md: its example runs, and its declarations agree with the headers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from diopi_proto import NotSupportedError, OperatorError, load_vendor
from diopi_proto import include_dir as contract_dir
from diopi_proto.build import compile_library
from diopi_proto.trial import try_library
from dl_vendor_kit import include_dir
from test_headers import compile_text

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "reference.md").read_text(encoding="utf-8")
TABLES = re.findall(r"^\| (\w+) \| \w+ \|\n\| --- \| --- \|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)


def squeezed(text: str) -> str:
    return " ".join(text.split())


def declared(column: str) -> list[str]:
    """Return the code of the first column of the tables with this heading."""
    rows = [row for heading, body in TABLES if heading == column for row in body.splitlines()]
    return [code for row in rows for code in re.findall(r"`([^`]+)`", row.split(" | ")[0])]


@pytest.fixture(scope="module")
def headers() -> str:
    files = [path for folder in (include_dir(), contract_dir()) for path in folder.rglob("*.h*")]
    return squeezed("\n".join(path.read_text(encoding="utf-8") for path in files))


def test_declarations_are_those_of_the_headers(headers: str) -> None:
    found = declared("declaration")
    assert len(found) > 45
    assert [each for each in found if squeezed(each) not in headers] == []


def test_names_exist(headers: str) -> None:
    prose = re.sub(r"```console\n.*?```", "", PAGE, flags=re.DOTALL)
    prefixes = r"(?:dl_|DL_|diopi|Reduction|RoundMode|ChannelsLast)"
    names = set(re.findall(rf"\b{prefixes}\w+", prose))
    known = set(re.findall(rf"\b{prefixes}\w+", headers))
    assert len(names) > 70
    assert sorted(names - known) == []


def test_includes_exist() -> None:
    named = set(re.findall(r"\bdl/[\w/]+\.h\b", PAGE))
    roots = (include_dir(), contract_dir())
    assert named
    assert [path for path in sorted(named) if not any((x / path).is_file() for x in roots)] == []


def test_methods_fill_all_slots(tmp_path: Path) -> None:
    methods = declared("method")
    body = "\n".join(f"  {each};" for each in methods)
    text = f"""
#include "dl/kit/operators.h"
using namespace dl::kit;
struct Vendor : Instance {{
  static constexpr const char* kName = "all";
  static constexpr const char* kVersion = "1";
{body}
}};
DL_KIT_VENDOR(Vendor)
"""
    done = compile_text(text, tmp_path)
    assert done.returncode == 0, done.stderr
    table = (include_dir() / "dl" / "kit" / "table.h").read_text(encoding="utf-8")
    slots = set(re.findall(r"\bX\((\w+), (?:true|false)\)", table))
    # The host makes a device current where the vendor does not: `make_current` takes its place.
    assert slots - {"device_set"} | {"make_current"} == {
        re.split(r"\(", each)[0].split()[-1].lstrip("*") for each in methods
    }


def examples() -> list[str]:
    return re.findall(r"```cpp\n(.*?)```", PAGE, re.DOTALL)


def test_example_without_a_driver_has_no_device_and_says_why(tmp_path: Path) -> None:
    source = tmp_path / "vendor.cpp"
    source.write_text(examples()[1], encoding="utf-8")
    flags = ["-Wall", "-Wextra", "-Werror"]
    library = compile_library(
        tmp_path / "libnpu_vendor.so", [source], include_dirs=[include_dir()], compile_flags=flags
    )
    trial = try_library(library)
    assert (trial.problem, trial.device_count) == ("", 0)
    assert "none of libnpu.so.2, libnpu.so.1 was found" in trial.said


def test_example_computes_and_declines(tmp_path: Path) -> None:
    code = examples()[0]
    source = tmp_path / "vendor.cpp"
    source.write_text(code, encoding="utf-8")
    flags = ["-O1", "-Wall", "-Wextra", "-Werror"]
    library = compile_library(
        tmp_path / "libsample.so", [source], include_dirs=[include_dir()], compile_flags=flags
    )
    rows, columns = np.arange(6, dtype=np.float32).reshape(2, 3), np.float32([[10], [20]])
    with load_vendor(library) as vendor:
        out = vendor.empty((2, 3))
        vendor.op.Add(out, vendor.tensor(rows), vendor.tensor(columns), 2)
        assert np.array_equal(out.numpy(), rows + 2 * columns)
        nothing = vendor.empty((0, 3))
        vendor.op.Add(nothing, vendor.empty((0, 3)), vendor.empty((1, 3)), 1)
        whole = vendor.tensor(rows.astype(np.int64))
        with pytest.raises((NotSupportedError, OperatorError)) as declined:
            vendor.op.Add(vendor.empty((2, 3), "int64"), whole, whole, 1)
        assert "only float32 tensors are supported" in str(declined.value)

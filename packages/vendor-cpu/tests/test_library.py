"""Tests of the built library: its dependencies, its symbols, its operators."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from diopi_proto import Vendor
from diopi_proto.build import check_library
from diopi_proto.elf import read_elf
from dl_kernels import families
from dl_vendor_cpu import plugin

LIBRARIES = sorted((Path(plugin.__file__).parent / "lib").glob("libdl_vendor_cpu_*.so"))


def test_there_is_a_library() -> None:
    assert LIBRARIES


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda p: p.name)
def test_library_follows_the_build_rules(library: Path) -> None:
    check_library(library)
    found = read_elf(library)
    allowed = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|libpthread|ld-linux-.*)\.so\.\d+$")
    assert [name for name in found.needed if not allowed.match(name)] == []
    assert found.exported == {"dl_vendor_v1"}
    assert not found.unique


def test_every_operator_binds(vendor: Vendor) -> None:
    assert not vendor.mismatched
    assert not vendor.unknown_operators
    defined = {name for operators in families().values() for name in operators}
    assert {name for name, bound in vendor.operators.items() if bound} == defined


def test_every_operator_has_a_test(vendor: Vendor) -> None:
    """Each bound operator is named in this folder, or is a form of a named one."""
    text = "\n".join(p.read_text(encoding="utf-8") for p in Path(__file__).parent.glob("*.py"))
    named = set(re.findall(r"\bop\.(\w+)\(", text)) | set(re.findall(r"\"(\w+)\"", text))
    # Tests of a function and its gradient name only one.
    named |= {f"{x}Backward" for x in re.findall(r"and_gradient\(\s*vendor, \"(\w+)\"", text)}
    suffixes = ("", "Inp", "Scalar", "InpScalar")
    missing = []
    for operator, bound in vendor.operators.items():
        name = operator.removeprefix("diopi").removeprefix("dlop")
        stems = {name.removesuffix(s) for s in suffixes if name.endswith(s)} | {operator}
        stems |= {name.replace("InpScalar", "Scalar")}
        if bound and not stems & named:
            missing.append(name)
    assert missing == []

"""Tests of the built library: its dependencies, symbols and operators."""

from __future__ import annotations

import re

from diopi_proto.build import check_library
from diopi_proto.elf import read_elf
from dl_kernels import families
from processes import library, run_on_vendor


def test_library_follows_the_build_rules() -> None:
    check_library(library())
    found = read_elf(library())
    allowed = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|ld-linux-.*)\.so\.\d+$")
    assert [name for name in found.needed if not allowed.match(name)] == []
    assert found.exported == {"dl_vendor_v1"}
    assert not found.unique
    of_driver = re.compile(r"cl[A-Z]|(__)?hip[A-Z]")
    assert [name for name in found.undefined if of_driver.match(name)] == []


def test_every_operator_binds() -> None:
    code = """
    assert not vendor.mismatched and not vendor.unknown_operators
    print(*sorted(name for name, bound in vendor.operators.items() if bound))
    """
    bound = set(run_on_vendor(code).split())
    # A build for tests may have only some families, but each with all of its operators.
    defined = {name for operators in families().values() for name in operators}
    assert bound and bound <= defined

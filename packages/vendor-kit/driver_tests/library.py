"""Tests of a vendor's built library: its dependencies, symbols and operators."""

from __future__ import annotations

import re

from extension_tests.simulated_vendor import SimulatedVendor

from diopi_proto.build import check_library
from diopi_proto.elf import read_elf
from dl_kernels import families

from .processes import Processes


def test_library_follows_the_build_rules(processes: Processes) -> None:
    check_library(processes.library)
    found = read_elf(processes.library)
    allowed = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|ld-linux-.*)\.so\.\d+$")
    assert [name for name in found.needed if not allowed.match(name)] == []
    assert found.exported == {"dl_vendor_v1"}
    assert not found.unique
    of_driver = re.compile(r"(__)?(cu|hip)[A-Z]|(__)?cuda")
    assert [name for name in found.undefined if of_driver.match(name)] == []


def test_every_operator_binds(fake_vendor: SimulatedVendor) -> None:
    code = """
    assert not vendor.mismatched and not vendor.unknown_operators
    print(*sorted(name for name, bound in vendor.operators.items() if bound))
    """
    bound = set(fake_vendor.run_on_vendor(code).split())
    # A build for tests may have only some families, but each with all of its operators.
    defined = {name for operators in families().values() for name in operators}
    assert bound and bound <= defined

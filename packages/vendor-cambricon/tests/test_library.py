"""Tests of the built library: its dependencies, symbols and operators."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from driver_tests.library import test_library_follows_the_build_rules  # noqa: F401
from extension_tests.model_operators import MODEL_OPERATORS
from extension_tests.simulated_vendor import SimulatedVendor

from conftest import with_fakes
from diopi_proto.elf import read_elf
from processes import Processes


def test_the_library_does_not_link_the_sdk(processes: Processes) -> None:
    of_sdk = re.compile(r"cnrt|cnnl|cndrv")
    assert [name for name in read_elf(processes.library).undefined if of_sdk.match(name)] == []


def test_all_operators_are_the_contracts(fake_vendor: SimulatedVendor) -> None:
    fake_vendor.run_on_vendor("assert not vendor.mismatched and not vendor.unknown_operators")


def test_all_operators_of_models_are_described() -> None:
    found: set[str] = set()
    for path in (Path(__file__).parents[1] / "library" / "operators").glob("*.yaml"):
        found |= yaml.safe_load(path.read_text(encoding="utf-8")).keys()
    assert sorted(MODEL_OPERATORS - found) == []


@with_fakes
def test_the_vendor_passes_its_check(simulated_vendor: SimulatedVendor) -> None:
    processes = simulated_vendor.processes
    code = f"""
    import sys
    from dl_core.cli import main
    sys.exit(main(["vendor", "check", {str(processes.library)!r}]))
    """
    assert " runtime checks ran" in processes.run(code, **simulated_vendor.variables)

"""Results of a library are checked before torch uses them: every invalid answer is an error."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from core.processes import output
from core.stub_vendor import StubVendor

from .planted import command

PROTO = Path(__file__).parents[2] / "packages" / "diopi-proto" / "tests"

pytestmark = pytest.mark.vendor("cpu")

PREPARE = """
import json, os, sys, torch
from dl_core import _C

def lie(name):
    os.environ["FIXTURE_LIE"] = name

def outcome_of(action, *arguments):
    try:
        return ["nothing", action(*arguments)]
    except Exception as error:
        return [type(error).__name__, str(error)]

said = {}
"""


def _lies() -> ModuleType:
    """Load the list of invalid answers, which the other host's tests also use."""
    spec = importlib.util.spec_from_file_location("lies", PROTO / "lies.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LIES = _lies()


@pytest.fixture(scope="module")
def liar(tmp_path_factory: pytest.TempPathFactory) -> StubVendor:
    vendor = StubVendor(tmp_path_factory.mktemp("liar"))
    return vendor.compile(PROTO / "fixtures" / "lies.cpp")


def ask(liar: StubVendor, code: str, lies: Any) -> dict[str, list[str]]:
    """Return what a process reports for each invalid answer."""
    whole = f"{PREPARE}\nlies = {list(lies)!r}\n{code}\nprint(json.dumps(said))"
    found: dict[str, list[str]] = json.loads(output(whole, **liar.variables()).splitlines()[-1])
    assert list(found) == list(lies)
    return found


def test_lies_at_the_start_are_errors(liar: StubVendor, tmp_path: Path) -> None:
    for name in LIES.AT_LOAD:
        shutil.copy(liar.library, tmp_path / f"{name}.so")
    code = f"""
for name in lies:
    lie(name)
    said[name] = outcome_of(_C.load_vendor, "liar", {str(tmp_path)!r} + f"/{{name}}.so", False)
"""
    for name, (kind, text) in ask(liar, code, LIES.AT_LOAD).items():
        assert kind == "RuntimeError" and LIES.AT_LOAD[name] in text, name


def test_lies_about_memory_and_errors_are_errors(liar: StubVendor) -> None:
    code = """
size = 1 << 12
for name in lies:
    lie(name)
    size *= 2  # nothing that is kept has it
    said[name] = outcome_of(lambda: torch.empty(size, dtype=torch.uint8, device="dl"))
    lie("")
assert torch.ones(3, device="dl").sum().item() == 3
"""
    for name, (kind, text) in ask(liar, code, LIES.AT_ALLOCATION).items():
        assert kind == "RuntimeError" and LIES.AT_ALLOCATION[name] in text, name
        assert "memory_allocate failed on vendor stub" in text


def test_lies_about_free_memory_and_host_memory_are_errors(liar: StubVendor) -> None:
    lies = {
        **LIES.AT_INFO,
        "host_memory_is_missing": "it reports success but returns no memory",
        "host_memory_has_a_hole": "is not memory that the host can write",
        "host_memory_is_nowhere": "at 0x123450 is not memory that the host can write",
    }
    code = """
for name in lies:
    lie(name)
    if "host" in name:
        said[name] = outcome_of(lambda: torch.empty(10000, pin_memory=True).sum().item())
    else:
        said[name] = outcome_of(torch.accelerator.get_memory_info)
"""
    for name, (kind, text) in ask(liar, code, lies).items():
        assert kind == "RuntimeError" and lies[name] in text, name


def test_lies_about_properties_are_errors_or_cost_the_text(liar: StubVendor) -> None:
    harmless = {
        "properties_have_no_end": "n" * 127,
        "properties_mislead": LIES.MISLEADING,
        "properties_change_their_size": "liar",
    }
    code = """
for name in lies:
    lie(name)
    said[name] = outcome_of(torch.dl.get_device_name)
"""
    found = ask(liar, code, {**LIES.AT_PROPERTIES, **harmless})
    for name, (kind, text) in found.items():
        if name in harmless:
            assert (kind, text) == ("nothing", harmless[name]), name
        else:
            assert kind == "RuntimeError" and LIES.AT_PROPERTIES[name] in text, name


def test_whatever_an_operator_says_of_its_failure_can_be_read(liar: StubVendor) -> None:
    code = """
x = torch.ones(4, device="dl")
for name in lies:
    lie(name)
    said[name] = outcome_of(torch.relu, x)
"""
    for name, (kind, text) in ask(liar, code, LIES.AT_OPERATOR).items():
        assert kind == "RuntimeError" and LIES.AT_OPERATOR[name] in text, name
        assert "[diopiRelu]" in text


def test_what_an_operator_asks_wrongly_is_an_error(liar: StubVendor) -> None:
    lies = {**LIES.AT_REQUIRE, "size_is_nowhere": ("0x123450", "not memory of this process")}
    code = """
x = torch.ones(4, device="dl")
for name in lies:
    lie(name)
    said[name] = outcome_of(torch.relu, x)
"""
    for name, (kind, text) in ask(liar, code, lies).items():
        assert kind == "RuntimeError", name
        for part in ("[diopiRelu]", "vendor stub", *lies[name]):
            assert part in text, name


def test_an_output_that_breaks_the_contract_is_an_error(liar: StubVendor) -> None:
    lies = {
        "output_is_missing": "stored NULL",
        "output_is_invented": "did not get from diopiRequireTensor",
        "output_is_float": "a tensor of Float for its output, which is of Long",
        "output_is_on_the_host": "a tensor in host memory",
        "output_is_flat": "a tensor of shape [3] for its output, which has 2 dimensions",
    }
    code = """
x = torch.ones(4, device="dl")
for name in lies:
    lie(name)
    said[name] = outcome_of(torch.nonzero, x)
lie("")
assert torch.nonzero(x).shape == (3, 1)
"""
    for name, (kind, text) in ask(liar, code, lies).items():
        assert kind == "RuntimeError" and lies[name] in text, name
        assert "[diopiNonzero]" in text and "vendor stub" in text


def test_what_an_operator_throws_is_an_error_that_names_it(liar: StubVendor) -> None:
    lies = {
        "operator_throws": r"threw an exception: operator\nran away",
        "operator_throws_a_number": "threw an exception that is not a std::exception",
    }
    code = """
x = torch.ones(4, device="dl")
for name in lies:
    lie(name)
    said[name] = outcome_of(torch.relu, x)
"""
    for name, (kind, text) in ask(liar, code, lies).items():
        assert kind == "RuntimeError" and lies[name] in text, name
        assert "[diopiRelu]" in text and "vendor stub" in text


def test_a_vendor_that_uses_the_host_wrongly_is_warned_of(liar: StubVendor) -> None:
    lies = {
        "log_is_nowhere": "(invalid string at 0x123450)",
        "log_misleads": LIES.MISLEADING,
        "body_is_missing": "with a NULL body",
        "body_throws": "threw an exception: body ran away",
    }
    code = """
import warnings
x = torch.ones(4, device="dl")
for name in lies:
    lie(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        said[name] = outcome_of(torch.relu, x)
    said[name].append([str(warning.message) for warning in caught])
"""
    for name, (kind, text, warned) in ask(liar, code, lies).items():
        assert kind == "RuntimeError" and "it does not like the sign" in text, name
        assert any(lies[name] in line for line in warned), name


def doctor(liar: StubVendor, lie: str) -> subprocess.CompletedProcess[str]:
    variables = {**liar.variables(), "FIXTURE_LIE": lie}
    return subprocess.run(
        [command(), "doctor"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.mark.parametrize("lie", ["name_misleads", "properties_mislead", "operator_name_misleads"])
def test_a_misleading_vendor_forges_no_line_of_the_doctor(liar: StubVendor, lie: str) -> None:
    done = doctor(liar, lie)
    lines = [line for line in done.stdout.splitlines() if line.startswith("Problems:")]
    # The plugin says "stub".
    assert lines == ["Problems: 1"] and done.returncode == 1, done.stdout
    assert "its plugin 'stub'" in done.stdout
    assert "\x1b" not in done.stdout
    # The doctor lists properties, and operators that the contract does not have; both are escaped.
    assert (LIES.MISLEADING in done.stdout) == (lie != "name_misleads")


@pytest.mark.parametrize("lie", LIES.FLAWS)
def test_the_doctor_names_what_a_vendor_lacks(liar: StubVendor, lie: str) -> None:
    done = doctor(liar, lie)
    (line,) = (line for line in done.stdout.splitlines() if LIES.FLAWS[lie] in line)
    assert done.returncode == 1 and "DL_DISABLE=stub disables it" in line

"""Checks of wheels with device code, where their device is missing."""

from __future__ import annotations

import pytest

from tools.device_wheels import Observed, main, observe

OBSERVED = Observed(
    "dl-vendor-a", {"liba.so": 7_100_000}, frozenset({"libc.so.6"}), "", (("a", "no driver"),)
)


def but(**changed: object) -> list[str]:
    """Return the problems of a wheel that differs from a right one."""
    return Observed(**{**vars(OBSERVED), **changed}).problems()


def test_a_wheel_that_explains_itself_has_no_problem() -> None:
    assert OBSERVED.problems() == []
    assert str(OBSERVED) == "dl-vendor-a: liba.so 7.1 MB\n  a has no device: no driver"


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"sizes": {}}, "has no library"),
        ({"needed": frozenset({"libc.so.6", "libamdhip64.so.5"})}, "is linked to libamdhip64.so.5"),
        ({"imports": "warning: no driver\n"}, "import torch prints 'warning: no driver'"),
        ({"vendors": ()}, "`dl doctor` lists no vendor of it"),
        ({"vendors": (("a", ""),)}, "`dl doctor` gives no reason why a has no device"),
    ],
)
def test_each_problem_is_named(changed: dict[str, object], problem: str) -> None:
    assert but(**changed) == [f"dl-vendor-a: {problem}"]


def test_an_installed_wheel_is_observed() -> None:
    (observed,) = observe(["dl-vendor-cpu"])
    assert observed.sizes
    assert "libc.so.6" in observed.needed
    assert observed.imports == ""
    assert [name for name, _ in observed.vendors] == ["cpu"]


def test_a_wheel_that_was_not_built_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dl-vendor-missing"]) == 1
    assert "dl-vendor-missing: not installed" in capsys.readouterr().err

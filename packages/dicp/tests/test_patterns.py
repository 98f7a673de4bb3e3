"""Every pattern fires, declines for each of its conditions, and keeps the values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from dl_dicp import statistics
from dl_dicp.options import Options
from dl_dicp.patterns import Calls, Declined, Match, registry
from dl_dicp.patterns.multiply_add import MultiplyAdd
from dl_dicp.recording.calls import Call
from dl_dicp.reports.explain import explain
from dl_dicp.testing.patterns import problems_of
from engine_wheel import installed


@pytest.mark.parametrize("name", [each.name for each in registry.OWN])
def test_a_pattern_is_what_it_says(name: str) -> None:
    assert list(problems_of(registry.all_patterns()[name])) == []


class Wrong(MultiplyAdd):
    """Pattern with wrong values, a condition without an example, and an unknown condition."""

    name = "wrong"
    conditions: Mapping[str, str] = {"alpha": "it says so", "never": "nothing shows it"}

    def match(self, calls: Calls, last: int) -> Match | Declined | None:
        found = super().match(calls, last)
        if not isinstance(found, Match):
            return None
        changed: dict[str, Any] = {**found.call.arguments, "value": {"dtype": "int64", "value": 7}}
        return Match(found.members, Call(found.call.operator, changed))


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> Wrong:
    pattern = Wrong()
    monkeypatch.setitem(registry.all_patterns(), "wrong", pattern)
    return pattern


def test_the_harness_finds_a_wrong_pattern(wrong: Wrong) -> None:
    said = "\n".join(problems_of(wrong))
    assert "example 0 was not rewritten" in said  # its first run failed the check
    assert "the counterexample of 'alpha' was rewritten 0 times; declined: []" in said
    assert "'broadcast' is not one of its conditions" in said
    assert "no counterexample shows the condition 'never'" in said


def test_a_wrong_pattern_changes_no_result(wrong: Wrong) -> None:
    def function(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        return a.add_(a * b + c)

    compiled = torch.compile(function, backend="dl", options={"patterns": ["wrong"]})
    given = [torch.rand(4, 8, device="dl") for _ in range(3)]
    for _ in range(3):
        mine, other = given[0].clone(), given[0].clone()
        assert torch.equal(compiled(mine, *given[1:]), function(other, *given[1:]))
        assert torch.equal(mine, other)
    assert not statistics.eager and not statistics.patterns
    assert "pattern wrong left 1 alone, because with it, value 0 differs" in explain()


def test_one_that_raises_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Raises(MultiplyAdd):
        name = "raises"

        def match(self, calls: Calls, last: int) -> Match | Declined | None:
            raise LookupError("no such call")

    monkeypatch.setitem(registry.all_patterns(), "raises", Raises())
    compiled = torch.compile(torch.add, backend="dl", options={"patterns": ["raises"]})
    x = torch.rand(3, device="dl")
    for _ in range(2):
        assert torch.equal(compiled(x, x), x + x)
    assert statistics.declined == {("raises", "it failed: LookupError: no such call"): 1}


WHEEL = """
import pluggy
from dl_core.contributions import Contribution

def load():
    from dl_dicp.patterns.multiply_add import MultiplyAdd

    class Other(MultiplyAdd):
        name = "other"

    return Other()

@pluggy.HookimplMarker("dl")
def dl_graph_patterns():
    return [Contribution("other", "As multiply-add.", load)]
"""


def test_a_wheel_adds_a_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with installed(tmp_path, monkeypatch, source=WHEEL):
        assert list(problems_of(registry.all_patterns()["other"])) == []
    broken = tmp_path / "broken"
    broken.mkdir()
    change = ('name = "other"', 'name = "rms-norm"')
    with (
        installed(broken, monkeypatch, change, WHEEL),
        pytest.warns(RuntimeWarning, match="another pattern has the name 'rms-norm'"),
    ):
        assert "other" not in registry.all_patterns()


def test_no_match_reaches_over_a_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tensor that is written between the first and the last call would be read too late."""

    def function(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        product = a * b
        a.mul_(2)
        return product + c

    compiled = torch.compile(function, backend="dl", options={"patterns": ["multiply-add"]})
    given = [torch.rand(4, 8, device="dl") for _ in range(3)]
    for _ in range(2):
        mine, other = given[0].clone(), given[0].clone()
        assert torch.allclose(compiled(mine, *given[1:]), function(other, *given[1:]))
        assert torch.equal(mine, other)


def test_training_keeps_what_its_backward_pass_reads() -> None:
    def norm(x: Tensor, weight: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight

    x, weight = (torch.rand(size, device="dl") for size in ((4, 6, 8), (8,)))
    gradients = []
    for run in (torch.compile(norm, backend="dl"), norm):
        one, other = x.clone().requires_grad_(), weight.clone().requires_grad_()
        for _ in range(2):
            gradients.append(torch.autograd.grad(run(one, other).square().sum(), (one, other)))
    for made, wanted in zip(gradients[1], gradients[-1], strict=True):
        assert torch.allclose(made, wanted, atol=1e-5)


@pytest.mark.parametrize("option", ["rms-norm", ["rms-norm", "nothing"]])
def test_an_unknown_name_is_refused(option: Any) -> None:
    with pytest.raises(ValueError, match="the option patterns must be"):
        Options(patterns=option)

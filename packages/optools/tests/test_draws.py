"""Random draws: a correct device is never blamed, and every faulty one is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)
from torch.utils.checkpoint import checkpoint

from dl_optools.diagnosis.call_distributions import distribution_of
from dl_optools.diagnosis.choices import Categories
from dl_optools.diagnosis.distributions import bernoulli, integers, normal, uniform
from dl_optools.diagnosis.independence import correlation, repetition
from dl_optools.diagnosis.probe import OpProbe
from dl_optools.diagnosis.special import beta_ratio
from faulty_device import Wrong, probed

WEIGHTS = torch.tensor([[0.2, 0.3, 0.5, 0.0, 1.0], [4.0, 3.0, 2.0, 1.0, 0.5]])


X, P = torch.ones(40, 50), torch.linspace(0.05, 0.95, 300)

DRAWS: dict[str, Callable[[], Any]] = {
    "_sample_dirichlet.default": lambda: torch._sample_dirichlet(torch.ones(90, 3)),
    "_standard_gamma.default": lambda: torch._standard_gamma(3 * P),
    "bernoulli.default": lambda: torch.bernoulli(P),
    "bernoulli_.Tensor": lambda: torch.empty(300).bernoulli_(P),
    "bernoulli_.float": lambda: (
        torch.empty(300).bernoulli_(0.3),
        F.dropout2d(torch.ones(9, 99, 1, 1)),
    ),
    "binomial.default": lambda: torch.binomial((20 * P).floor(), P),
    "cauchy_.default": lambda: torch.empty(20, 30).cauchy_(),
    "exponential_.default": lambda: F.gumbel_softmax(torch.zeros(30, 30)),
    "geometric_.default": lambda: torch.empty(300).geometric_(0.3),
    "log_normal_.default": lambda: torch.empty(300).log_normal_(),
    "multinomial.default": lambda: (
        *(torch.multinomial(WEIGHTS, 3) for _ in range(40)),
        torch.multinomial(WEIGHTS, 90, True),
        torch.multinomial(WEIGHTS[1], 1),
        torch.multinomial(WEIGHTS[1], 400, True),
    ),
    "native_dropout.default": lambda: (F.dropout(X, 0.25), torch.native_dropout(X, 0.1, True)),
    "normal.Tensor_Tensor": lambda: torch.normal(P, 2 * P),
    "normal.Tensor_float": lambda: torch.normal(P, 2.0),
    "normal.float_Tensor": lambda: torch.normal(1.0, P),
    "normal_.default": lambda: (torch.empty(600).normal_(2, 0.5), torch.empty(9).normal_(1, 0)),
    "poisson.default": lambda: torch.poisson(30 * P),
    "rand.generator": lambda: torch.rand(300, generator=torch.Generator().manual_seed(7)),
    "rand_like.default": lambda: torch.rand_like(X),
    "randint.default": lambda: torch.randint(5, (300,)),
    "randint.low": lambda: torch.randint(0, 7, (300,)),
    "randint_like.default": lambda: torch.randint_like(X, 9),
    "randn_like.default": lambda: torch.randn_like(X),
    "random_.default": lambda: (torch.empty(300).random_(), torch.ones(99).char().random_()),
    "random_.from": lambda: torch.empty(300, dtype=torch.int16).random_(3, 9),
    "randperm.default": lambda: torch.randperm(50),
    "rrelu_with_noise.default": lambda: F.rrelu(torch.linspace(-1, 1, 500), training=True),
    "uniform_.default": lambda: torch.empty(20, 30, dtype=torch.bfloat16).uniform_(-100, 101),
}
"""Calls of each random operator."""


def test_every_random_operator_of_a_right_device_passes() -> None:
    found = probed(lambda: [each() for each in DRAWS.values()])
    assert found["wrong"] == {} and found["unknown"] == {}
    assert not {f"aten.{name}" for name in DRAWS} - set(found["drawn"])


def test_the_programs_own_numbers_do_not_change() -> None:
    def program() -> list[torch.Tensor]:
        torch.manual_seed(3)
        own = torch.Generator().manual_seed(5)
        return [
            torch.rand(4),
            F.dropout(torch.ones(50)),
            torch.empty(9).normal_(generator=own),
            torch.multinomial(WEIGHTS, 2, generator=own),
            torch.rand(4),
        ]

    expected = program()
    with OpProbe(device="cpu"):
        got = program()
    assert all(map(torch.equal, expected, got))


def half_of(x: torch.Tensor) -> torch.Tensor:
    return x * (torch.arange(x.numel()).view(x.shape) % 2)


@pytest.mark.parametrize(
    ("name", "wrong", "said"),
    [
        ("native_dropout.default", lambda x: (x[0] * 1.01, x[1]), "where the mask is set"),
        ("bernoulli_.float", lambda x: x.mul_(2), "not 0 or 1"),
        ("bernoulli_.float", lambda x: x.copy_(half_of(x)), "Bernoulli"),
        (
            "bernoulli_.Tensor",
            lambda x: x.bernoulli_(0.5),
            "different numbers|distribution|correlated",
        ),
        ("bernoulli.default", half_of, "distribution|correlated"),
        ("uniform_.default", lambda x: x.mul_(0.5), "distribution"),
        ("normal_.default", lambda x: x.mul_(1.1), "distribution"),
        ("normal.Tensor_Tensor", lambda x: x * 1.1, "distribution"),
        ("normal.Tensor_float", lambda x: x + 0.1, "distribution"),
        ("poisson.default", lambda x: x + 1, "distribution"),
        ("poisson.default", lambda x: x + 0.5, "not whole numbers"),
        ("binomial.default", lambda x: x + 1, "number of trials"),
        ("_standard_gamma.default", lambda x: x * 1.05, "distribution"),
        ("_sample_dirichlet.default", lambda x: x.roll(1, -1) ** 2, "distribution"),
        ("exponential_.default", lambda x: x.mul_(0.9), "distribution"),
        ("geometric_.default", lambda x: x.sub_(1), "whole numbers from 1"),
        ("cauchy_.default", lambda x: x.add_(0.1), "distribution"),
        ("log_normal_.default", lambda x: x.mul_(1.2), "distribution"),
        ("random_.from", lambda x: x.add_(1), "whole numbers from 3 to 8"),
        ("randint.low", lambda x: x + (x == 3) * 9, "whole numbers from 0 to 6"),
        ("randint.default", half_of, "distribution|correlated"),
        ("randperm.default", lambda x: x.clamp(min=1), "not a permutation"),
        ("randperm.default", lambda x: x.sort().values, "same|correlated"),
        ("rrelu_with_noise.default", lambda x: x * 1.1, "the input x noise"),
        ("rand_like.default", lambda x: torch.linspace(0, 0.99, x.numel()), "same|corr"),
        ("randn_like.default", lambda x: x.sort().values, "correlated"),
        ("multinomial.default", lambda x: x * 0, "a category twice"),
        ("multinomial.default", lambda x: x * 0 + 3, "have the weight 0"),
        ("multinomial.default", lambda x: x.sort(-1).values, "distribution|correlated"),
    ],
)
def test_draws_that_are_wrong_are_named(name: str, wrong: Wrong, said: str) -> None:
    found = probed(DRAWS[name], f"aten.{name}", wrong)
    assert list(found["wrong"]) == [f"aten.{name}"]
    assert any(part in str(found["wrong"]) for part in said.split("|")), found["wrong"]


def a_layer(shape: tuple[int, ...]) -> Callable[[], None]:
    return lambda: [torch.native_dropout(torch.ones(shape), 0.1, True) for _ in range(3)] and None


def with_mask(change: Wrong) -> Wrong:
    """Change the mask of dropout, and the output with it."""

    def wrong(result: Any) -> Any:
        mask = change(result[1])
        return mask / 0.9, mask

    return wrong


def test_the_same_mask_in_every_row_is_not_a_dropout() -> None:
    name = "aten.native_dropout.default"
    for change in (
        lambda x: x[:1].expand_as(x).clone(),
        lambda x: x[:, :1].expand_as(x).clone(),
        lambda x: torch.cat([x[:2], x[:2], x[4:]]),
    ):
        found = probed(a_layer((8, 640)), name, with_mask(change))
        assert "same" in found["wrong"][name] or "correlated" in found["wrong"][name]


def test_the_same_mask_at_every_call_is_not_a_dropout() -> None:
    name = "aten.native_dropout.default"
    fixed = torch.rand(8, 640) < 0.9
    found = probed(
        a_layer((8, 640)), name, with_mask(lambda x: fixed if x.shape == fixed.shape else x)
    )
    assert "drew the same numbers from another state" in found["wrong"][name]

    def repeats(*_: Any) -> Any:
        """A device that draws without advancing its generator."""
        state = torch.get_rng_state()
        mask = torch.rand(8, 640) < 0.9
        torch.set_rng_state(state)
        return mask / 0.9, mask

    found = probed(a_layer((8, 640)), name, instead=repeats)
    assert "does not advance the state of the generator" in found["wrong"][name]


def test_a_small_mask_that_is_the_same_at_every_call_is_not_a_dropout() -> None:
    """One repetition of 64 draws may be due to chance; twenty cannot be."""
    fixed = torch.rand(4, 16) < 0.9
    name = "aten.native_dropout.default"

    def work() -> None:
        for _ in range(30):
            torch.native_dropout(torch.ones(4, 16), 0.1, True)
            torch.native_dropout(torch.ones(4, 3), 0.1, True)

    found = probed(work, name, with_mask(lambda x: fixed if x.shape == fixed.shape else x))
    assert "every call draws the same" in found["wrong"][name]
    assert probed(work)["wrong"] == {}


def test_a_fault_in_a_few_calls_shows_in_the_draws_of_small_calls_together() -> None:
    """Sixteen draws of one call are too few for a test; the draws of two hundred calls are
    enough."""
    calls: list[None] = []

    def rarely(result: torch.Tensor) -> torch.Tensor:
        calls.append(None)
        return result * 0 if len(calls) % 3 == 0 and result.numel() == 16 else result

    def work() -> None:
        for _ in range(200):
            torch.bernoulli(torch.full((16,), 0.5))

    found = probed(work, "aten.bernoulli.default", rarely)
    assert list(found["wrong"]) == ["aten.bernoulli.default"]


def test_programs_that_draw_the_same_on_purpose_are_right() -> None:
    layer = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Dropout(0.3))

    def work() -> None:
        x = torch.randn(32, 64, requires_grad=True)
        checkpoint(layer, x, use_reentrant=False).sum().backward()
        for _ in range(100):
            torch.manual_seed(1)
            torch.rand(300), torch.rand(7), F.dropout(torch.ones(40, 40))
        torch.native_dropout(torch.ones(50), 0.0, True), torch.bernoulli(torch.ones(500))
        torch.empty(900).uniform_(2, 2), torch.rand(0), torch.rand(())

    assert probed(work)["wrong"] == {}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_dropout_of_values_that_are_not_finite(value: float) -> None:
    x = torch.ones(1000)
    x[:500] = value
    name = "aten.native_dropout.default"
    assert probed(lambda: torch.native_dropout(x, 0.2, True))["wrong"] == {}
    found = probed(lambda: torch.native_dropout(x, 0.2, True), name, lambda y: (y[0] + 1, y[1]))
    assert found["wrong"][name].startswith("500 of 1000")


def test_a_law_without_finite_parameters_is_not_known() -> None:
    drawn = torch.zeros(2)
    assert distribution_of("normal", {"mean": float("nan"), "std": 1.0}, drawn) is None
    assert distribution_of("bernoulli", {"self": torch.tensor([0.5, float("nan")])}, drawn) is None
    assert distribution_of("exponential", {"lambd": float("inf")}, drawn) is None
    assert distribution_of("normal", {"mean": 1.0, "std": 1.0}, drawn) is not None
    # Only categories of weight 0 are invalid: the CPU raises.
    nothing = {"self": torch.zeros(1, 3), "replacement": True}
    assert distribution_of("multinomial", nothing, drawn) is None


def test_every_law_makes_its_draws_uniform_and_no_other() -> None:
    torch.manual_seed(0)
    noise, other = torch.rand(2, 4000, dtype=torch.float64)

    def mean(distribution: Any, values: torch.Tensor) -> float:
        return float(
            distribution.uniforms(values, noise[: values.numel()].view(values.shape)).mean()
        )

    assert mean(normal(0, 1), torch.randn(4000)) == pytest.approx(0.5, abs=0.03)
    assert mean(normal(0.2, 1), torch.randn(4000)) < 0.47
    assert mean(bernoulli(0.2), (other < 0.2).double()) == pytest.approx(0.5, abs=0.03)
    assert mean(integers(0, 3), torch.randint(0, 3, (4000,))) == pytest.approx(0.5, abs=0.03)
    assert mean(uniform(0, 2), noise) == pytest.approx(0.25, abs=0.03)
    for replacement, count in ((True, 9), (False, 4)):
        distribution = Categories(WEIGHTS.repeat(200, 1), replacement)
        drawn = torch.multinomial(WEIGHTS.repeat(200, 1), count, replacement)
        assert distribution.outside(drawn) == ""
        assert mean(distribution, drawn) == pytest.approx(0.5, abs=0.03)


def test_repetition_by_chance_is_not_a_fault() -> None:
    """Rows of three numbers are sometimes equal by chance; rows of hundreds never are."""
    torch.manual_seed(0)
    short, entropy = torch.randint(0, 4, (64, 3)), torch.full((64, 3), 2.0)
    assert repetition(short, entropy) == ""
    long = torch.randint(0, 4, (64, 300))
    assert repetition(long, torch.full((64, 300), 2.0)) == ""
    long[40] = long[7]
    assert "rows 7 and 40" in repetition(long, torch.full((64, 300), 2.0))
    # Draws that cannot differ are always the same.
    assert repetition(torch.ones(64, 300), torch.zeros(64, 300)) == ""
    scores = torch.randn(4096, dtype=torch.float64)
    assert correlation(scores) == ""
    assert "256 apart" in correlation(scores[:256].repeat(16) + 0.5 * scores)


def test_the_incomplete_beta_function() -> None:
    """DLMF 8.17: I_x(1, b) = 1 - (1 - x)^b, I_x(a, 1) = x^a, I_x(a, a) = 1 / 2 at 1 / 2."""
    x = torch.linspace(0, 1, 21, dtype=torch.float64)
    one = torch.ones_like(x)
    torch.testing.assert_close(beta_ratio(one, 7 * one, x), 1 - (1 - x) ** 7)
    torch.testing.assert_close(beta_ratio(0.3 * one, one, x), x**0.3)
    half = torch.tensor(0.5, dtype=torch.float64)
    for a in (0.1, 3.0, 4e4):
        given = torch.tensor(a, dtype=torch.float64)
        assert float(beta_ratio(given, given, half)) == pytest.approx(0.5, abs=1e-9)

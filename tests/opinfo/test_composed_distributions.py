"""Random operators that dl-core composes run without fallback and follow their distribution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from diopi_proto.tolerance.distribution import compare_distribution

pytestmark = pytest.mark.vendor("cpu")

Values = Any
Fill = Callable[..., torch.Tensor]

COUNT = 200_003
FLOATING = (torch.float32, torch.float64, torch.float16, torch.bfloat16)

_normal_cdf = np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2)), otypes=[float])


def _log_normal_cdf(x: Values) -> Values:
    return np.where(x > 0, _normal_cdf((np.log(np.maximum(x, 1e-300)) - 0.5) / 0.25), 0.0)


CONTINUOUS: dict[str, tuple[Fill, Callable[[Values], Values]]] = {
    "exponential_": (
        lambda x, **kw: x.exponential_(2.5, **kw),
        lambda x: np.where(x > 0, -np.expm1(-2.5 * x), 0.0),
    ),
    "cauchy_": (
        lambda x, **kw: x.cauchy_(1.0, 3.0, **kw),
        lambda x: 0.5 + np.arctan((x - 1.0) / 3.0) / math.pi,
    ),
    "log_normal_": (lambda x, **kw: x.log_normal_(0.5, 0.25, **kw), _log_normal_cdf),
    "normal_": (lambda x, **kw: x.normal_(1.0, 2.0, **kw), lambda x: _normal_cdf((x - 1.0) / 2.0)),
    "uniform_": (lambda x, **kw: x.uniform_(-1.0, 3.0, **kw), lambda x: (x + 1.0) / 4.0),
}
ALL: dict[str, Fill] = {name: fill for name, (fill, _) in CONTINUOUS.items()} | {
    "geometric_": lambda x, **kw: x.geometric_(0.3, **kw),
    "random_": lambda x, **kw: x.random_(0, 100, **kw),
    "bernoulli_": lambda x, **kw: x.bernoulli_(torch.full((), 0.3, device=x.device), **kw),
}


@pytest.fixture(autouse=True)
def _no_fallback(vendor: str) -> Any:
    with torch.dl.fallback("error"):
        yield


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_follows_the_distribution(name: str, dtype: torch.dtype) -> None:
    fill, cdf = CONTINUOUS[name]
    generator = torch.Generator("dl").manual_seed(5)
    drawn = fill(torch.empty(COUNT, dtype=dtype, device="dl"), generator=generator).cpu()
    assert drawn.isfinite().all()
    result = compare_distribution(drawn.numpy(), cdf)
    assert result.ok, result.report(name)


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, *FLOATING], ids=str)
@pytest.mark.parametrize("p", [0.02, 0.5, 0.97])
def test_geometric_counts_trials(p: float, dtype: torch.dtype) -> None:
    p = max(p, 0.1) if dtype in (torch.uint8, torch.bfloat16) else p
    generator = torch.Generator("dl").manual_seed(6)
    drawn = torch.empty(COUNT, dtype=dtype, device="dl").geometric_(p, generator=generator)
    values = drawn.cpu().double().numpy()
    assert values.min() >= 1
    assert (values == np.round(values)).all()
    result = compare_distribution(
        values, lambda k: 1 - (1 - p) ** k, lambda k: 1 - (1 - p) ** (k - 1)
    )
    assert result.ok, result.report(f"geometric {p}")


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_exponential_numbers_are_above_zero(dtype: torch.dtype) -> None:
    generator = torch.Generator("dl").manual_seed(7)
    drawn = torch.empty(1 << 18, dtype=dtype, device="dl").exponential_(generator=generator).cpu()
    assert (drawn > 0).all()
    assert abs(float(drawn.double().mean()) - 1) < 0.02


@pytest.mark.parametrize("name", ALL)
def test_the_generator_decides(name: str) -> None:
    fill = ALL[name]

    def draw(generator: torch.Generator) -> torch.Tensor:
        return fill(torch.empty(1000, device="dl"), generator=generator).cpu()

    generator, twin = (torch.Generator("dl").manual_seed(8) for _ in range(2))
    first, second = draw(generator), draw(generator)
    assert not torch.equal(first, second)
    assert torch.equal(first, draw(twin))
    assert torch.equal(second, draw(twin))
    torch.manual_seed(8)
    assert torch.equal(first, fill(torch.empty(1000, device="dl")).cpu())
    with pytest.raises(RuntimeError, match="Expected a 'dl' device type for generator"):
        draw(torch.Generator().manual_seed(8))


@pytest.mark.parametrize("name", ALL)
def test_threads_do_not_change_the_numbers(name: str) -> None:
    drawn = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        generator = torch.Generator("dl").manual_seed(9)
        drawn.append(ALL[name](torch.empty(300_000, device="dl"), generator=generator).cpu())
    assert torch.equal(*drawn)


@pytest.mark.parametrize("name", ALL)
def test_views_are_filled_in_place(name: str) -> None:
    wide = torch.full((40, 60), -7.0, device="dl")
    view = wide.t()[::2]
    generator = torch.Generator("dl").manual_seed(10)
    assert ALL[name](view, generator=generator) is view
    assert (wide.cpu().t()[1::2] == -7).all()
    assert (view.cpu() != -7).any()
    assert ALL[name](torch.empty(0, 3, device="dl")).shape == (0, 3)


@pytest.mark.parametrize(
    ("fill", "message"),
    [
        (lambda x: x.exponential_(-1.0), "exponential_ expects lambda > 0.0"),
        (lambda x: x.geometric_(1.5), "geometric_ expects p to be in"),
        (lambda x: x.cauchy_(0.0, -1.0), "cauchy_ expects sigma > 0.0"),
        (lambda x: x.log_normal_(0.0, -1.0), "log_normal_ expects std > 0.0"),
        (lambda x: torch.normal(0.0, x - 2), "normal expects all elements of std >= 0.0"),
        (lambda x: torch.multinomial(x - 2, 1), "probability tensor contains"),
        (lambda x: torch.multinomial(x - 1, 1), "sum of probabilities <= 0"),
    ],
)
def test_bad_parameters_are_refused_as_on_the_cpu(fill: Fill, message: str) -> None:
    with torch.dl.fallback("allow"):
        for device in ("cpu", "dl"):
            with pytest.raises(RuntimeError, match=message):
                fill(torch.ones(4, device=device))


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_multinomial_draws_by_weight(dtype: torch.dtype, replacement: bool) -> None:
    weights = torch.tensor([1.0, 0.0, 3.0, 4.0], dtype=dtype, device="dl").expand(COUNT, 4)
    generator = torch.Generator("dl").manual_seed(11)
    drawn = torch.multinomial(weights, 2, replacement, generator=generator).cpu().numpy()
    steps = np.cumsum([1, 0, 3, 4]) / 8

    def cdf(k: Values) -> Values:
        return steps[k.astype(int)]

    def cdf_left(k: Values) -> Values:
        return np.concatenate([[0.0], steps])[k.astype(int)]

    for column in range(2 if replacement else 1):
        result = compare_distribution(drawn[:, column], cdf, cdf_left)
        assert result.ok, result.report("multinomial")
    if not replacement:
        assert (drawn[:, 0] != drawn[:, 1]).all()
        # P(second = 3 | first = 2) = 4 / 5.
        seconds = drawn[drawn[:, 0] == 2, 1] == 3
        assert abs(seconds.mean() - 0.8) < 5 * math.sqrt(0.16 / seconds.size)
    assert (drawn != 1).all()


def test_permutations_are_uniform() -> None:
    generator = torch.Generator("dl").manual_seed(12)
    seen: dict[tuple[int, ...], int] = {}
    draws = 12_000
    for _ in range(draws):
        order = tuple(torch.randperm(4, device="dl", generator=generator).tolist())
        assert sorted(order) == [0, 1, 2, 3]
        seen[order] = seen.get(order, 0) + 1
    assert len(seen) == 24
    deviation = sum((count - draws / 24) ** 2 / (draws / 24) for count in seen.values())
    # Chi square with 23 degrees of freedom: above 90 once in 10^9.
    assert deviation < 90


def test_permutations_come_in_every_dtype() -> None:
    for dtype in (torch.int64, torch.int32, torch.int16, torch.uint8, *FLOATING):
        order = torch.randperm(200, dtype=dtype, device="dl")
        assert order.dtype == dtype
        assert sorted(order.tolist()) == list(range(200))
    out = torch.empty(0, dtype=torch.int64, device="dl")
    torch.randperm(7, out=out)
    assert sorted(out.tolist()) == list(range(7))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_randomised_relu(dtype: torch.dtype, training: bool) -> None:
    numbers = torch.linspace(-2, 2, 1001, dtype=dtype)
    numbers[0] = float("nan")
    x = numbers.to("dl")
    noise = torch.zeros_like(x)
    generator = torch.Generator("dl").manual_seed(13)
    arguments = (noise, 0.25, 0.5, training, generator)
    result = torch.ops.aten.rrelu_with_noise(x, *arguments)
    host, slopes = x.cpu(), noise.cpu()
    if training:
        below = host <= 0
        assert (slopes[~below] == 1).all()
        assert ((slopes[below] >= 0.25) & (slopes[below] <= 0.5)).all()
        assert len(slopes[below].unique()) > 50
        want = host * slopes
    else:
        assert (slopes == 0).all()
        want = torch.where(host > 0, host, host * 0.375)
    torch.testing.assert_close(result.cpu(), want, rtol=0, atol=0, equal_nan=True)
    for form in ("out", "in place"):
        generator.manual_seed(13)
        if form == "out":
            target = torch.empty(0, dtype=dtype, device="dl")
            torch.ops.aten.rrelu_with_noise.out(x, *arguments, out=target)
        else:
            target = x.clone()
            torch.ops.aten.rrelu_with_noise_(target, *arguments)
        torch.testing.assert_close(target.cpu(), result.cpu(), rtol=0, atol=0, equal_nan=True)


def test_randomised_relu_of_nothing_has_no_bounds_to_check() -> None:
    empty = torch.empty(0, device="dl")
    assert torch.rrelu_(empty, -math.inf, 1.0, training=True).shape == (0,)


def _counts_cdf(log_mass: Callable[[int], float], last: int) -> tuple[Any, Any]:
    """Return P(X <= k) and P(X < k), given the logarithm of P(X = k)."""
    steps = np.concatenate([[0.0], np.cumsum([math.exp(log_mass(k)) for k in range(last + 1)])])

    def at(k: Values) -> Values:
        return steps[np.clip(k.astype(int), 0, last + 1)]

    return lambda k: at(k + 1), at


@pytest.mark.parametrize("mean", [0.0, 0.3, 9.5, 10.5, 300.0])
def test_poisson_counts(mean: float) -> None:
    rates = torch.full((COUNT,), mean, device="dl")
    rates[0] = 40.0  # the other elements must not be affected
    generator = torch.Generator("dl").manual_seed(14)
    drawn = torch.poisson(rates, generator=generator).cpu().numpy()[1:]

    def log_mass(k: int) -> float:
        return k * math.log(mean) - mean - math.lgamma(k + 1) if mean else 0.0 if k == 0 else -1e9

    result = compare_distribution(drawn, *_counts_cdf(log_mass, 600))
    assert result.ok, result.report(f"poisson {mean}")


@pytest.mark.parametrize(
    ("trials", "p"), [(20, 0.3), (20, 0.9), (500, 0.2), (500, 0.97), (90, 0.5), (7, 0.0), (7, 1.0)]
)
def test_binomial_counts(trials: int, p: float) -> None:
    n, chance = (torch.full((COUNT,), value, device="dl") for value in (float(trials), p))
    generator = torch.Generator("dl").manual_seed(15)
    drawn = torch.binomial(n, chance, generator=generator).cpu().numpy()
    q = float(chance[0].cpu())

    def log_mass(k: int) -> float:
        if k > trials:
            return -1e9
        if q in (0.0, 1.0):
            return 0.0 if k == trials * q else -1e9
        ways = math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1)
        return ways + k * math.log(q) + (trials - k) * math.log1p(-q)

    result = compare_distribution(drawn, *_counts_cdf(log_mass, trials + 1))
    assert result.ok, result.report(f"binomial {trials} {p}")


@pytest.mark.parametrize("shape", [1, 2, 5, 60])
def test_gamma_numbers(shape: int) -> None:
    """For an integer shape k, P(X > x) is the probability of fewer than k arrivals until x."""
    generator = torch.Generator("dl").manual_seed(16)
    shapes = torch.full((COUNT,), float(shape), device="dl")
    drawn = torch._standard_gamma(shapes, generator=generator).cpu().double().numpy()

    def cdf(x: Values) -> Values:
        logs = [k * np.log(x) - x - math.lgamma(k + 1) for k in range(shape)]
        return 1 - np.exp(logs).sum(axis=0)

    result = compare_distribution(drawn, cdf)
    assert result.ok, result.report(f"gamma {shape}")


def test_gamma_numbers_of_half_shape_are_squares_of_normal_ones() -> None:
    generator = torch.Generator("dl").manual_seed(17)
    shapes = torch.full((COUNT,), 0.5, device="dl")
    drawn = torch._standard_gamma(shapes, generator=generator).cpu().double().numpy()
    result = compare_distribution(drawn, lambda x: 2 * _normal_cdf(np.sqrt(2 * x)) - 1)
    assert result.ok, result.report("gamma 0.5")


def test_dirichlet_parts_are_beta_numbers() -> None:
    generator = torch.Generator("dl").manual_seed(18)
    shares = torch.tensor([1.0, 1.0, 2.0], device="dl").expand(COUNT, 3)
    drawn = torch._sample_dirichlet(shares, generator=generator).cpu().double()
    torch.testing.assert_close(drawn.sum(1), torch.ones(COUNT).double(), rtol=0, atol=1e-6)
    # The first part has a beta distribution with parameters 1 and 3.
    result = compare_distribution(drawn[:, 0].numpy(), lambda x: 1 - (1 - x) ** 3)
    assert result.ok, result.report("dirichlet")


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_rejection_in_every_precision(dtype: torch.dtype) -> None:
    values = torch.tensor([[0.5, 3.0], [20.0, 100.0]], dtype=dtype, device="dl")
    for draw in (
        torch.poisson,
        torch._standard_gamma,
        torch._sample_dirichlet,
        lambda x: torch.binomial(x.ceil(), torch.full_like(x, 0.25)),
    ):
        torch.manual_seed(19)
        first = draw(values).cpu()
        torch.manual_seed(19)
        again = draw(values).cpu()
        assert first.dtype == dtype
        assert first.shape == values.shape
        assert torch.equal(first, again)
        assert first.isfinite().all()
        assert (first >= 0).all()

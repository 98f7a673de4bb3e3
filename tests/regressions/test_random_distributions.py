"""Every random operator follows its distribution in every dtype, natively and by the fallback.

A right operator fails one of the tests with a probability below 10^-8; seeds are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

from diopi_proto.tolerance.distribution import compare_distribution

from .laws import (
    LAWS,
    Array,
    Law,
    check_counts,
    check_law,
    check_moments,
    check_neighbours,
    rounded,
)

FLOATING = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
WIDE = (torch.uint16, torch.uint32, torch.uint64)

COUNT = 120_000
FEWER = 25_000
"""Number of samples for slow operators."""

native_only = pytest.mark.parametrize(
    "path", [pytest.param("native", marks=pytest.mark.vendor("cpu"))], indirect=True
)


@pytest.fixture(
    params=[pytest.param("native", marks=pytest.mark.vendor("cpu")), "fallback"], autouse=True
)
def path(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run with the contract's operators, or with torch's on the CPU; composite ones use either."""
    if request.param == "native":
        with torch.dl.fallback("error"):
            yield request.param
        return
    torch.dl.set_force_fallback([".*"])
    yield request.param
    torch.dl.set_force_fallback([])


def seeded(seed: int) -> torch.Generator:
    return torch.Generator("dl").manual_seed(seed)


def empty(dtype: torch.dtype, count: int = COUNT) -> torch.Tensor:
    return torch.empty(count, dtype=dtype, device="dl")


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("name", LAWS)
def test_continuous_numbers_follow_their_law(name: str, dtype: torch.dtype, path: str) -> None:
    count = FEWER if name.startswith(("gamma", "dirichlet")) else COUNT
    sample = LAWS[name].draw(empty(dtype, count // 3 * 3), seeded(1)).cpu()
    check_law(name, LAWS[name], sample)
    if name != "dirichlet":
        check_neighbours(name, sample.double().numpy())


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 3.0), (1.0, 2.0)])
def test_uniform_numbers_are_uniform(
    low: float, high: float, dtype: torch.dtype, path: str
) -> None:
    sample = empty(dtype).uniform_(low, high, generator=seeded(2)).cpu()
    values = sample.double().numpy()
    assert (values >= low).all()
    # torch's own operator may round up to the upper bound.
    assert (values <= high).all() if path == "fallback" else (values < high).all()
    check_neighbours("uniform_", values)
    law = Law(lambda x, g: x, lambda x: np.clip((x - low) / (high - low), 0, 1))
    upto, before = rounded(law, dtype)
    # Numbers that would be rounded to the upper bound stay below it.
    last = float(torch.nextafter(torch.tensor(high), torch.tensor(low)).to(dtype))
    last = last if last < high else float(torch.nextafter(*torch.tensor([high, low], dtype=dtype)))
    result = compare_distribution(values, lambda x: np.where(x >= last, 1.0, upto(x)), before)
    assert result.ok, result.report(f"uniform_ {dtype}")
    if dtype.itemsize == 2:
        return
    scaled = (values - low) / (high - low)
    check_moments("uniform_", scaled, 0.5, 1 / 12, 1.8)
    for digits in (0, 10) if dtype == torch.float32 else (0, 10, 30):
        # The leading digits, and the following ones.
        cells = np.floor(scaled * 2.0**digits * 64) % 64
        check_counts(f"digits from {digits}", np.bincount(cells.astype(int)), np.full(64, 1 / 64))


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_normal_numbers_have_tails(dtype: torch.dtype, path: str) -> None:
    sample = empty(dtype, 1 << 21).normal_(0, 1, generator=seeded(3)).abs_().cpu().double().numpy()
    for sigmas in (3.0, 4.0, 4.5):
        # In half precision, rounding moves the edge down by half an ULP.
        edge = sigmas - float(torch.finfo(dtype).eps)
        chances = [
            math.erfc(edge / math.sqrt(2)),
            math.erfc((sigmas + 2 * (sigmas - edge)) / math.sqrt(2)),
        ]
        least, most = min(chances) * sample.size, max(chances) * sample.size
        found = np.count_nonzero(sample >= sigmas)
        assert least - 6.2 * math.sqrt(least) < found < most + 6.2 * math.sqrt(most) + 20
    assert sample.max() < 9


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("rate", [1e-6, 1.0, 3e3, 1e30])
def test_exponential_numbers_are_never_0_or_endless(
    rate: float, dtype: torch.dtype, path: str
) -> None:
    sample = empty(dtype, 1 << 19).exponential_(rate, generator=seeded(4)).cpu()
    assert (sample > 0).all() and sample.isfinite().all()


# Integer ranges that reach a bound of the dtype, with widths divisible by 48, not powers of two.
RANGES = [
    (torch.int8, -(1 << 7), (1 << 7) - 16),
    (torch.uint8, 16, 1 << 8),
    (torch.int16, -(1 << 15), 1 << 14),
    (torch.uint16, 1 << 14, 1 << 16),
    (torch.float16, -(1 << 10), 1 << 11),
    (torch.bfloat16, -(1 << 7), 1 << 8),
    (torch.int64, 0, 10**9),
    (torch.int64, -7, 3 * 2**30 - 7),
    (torch.int64, -(3 << 60), 3 << 60),
    (torch.int64, -(1 << 62), (1 << 62) + (1 << 61)),
    (torch.int64, -(1 << 63), (1 << 63) - 1),
    (torch.int32, 0, 3 << 26),
    (torch.int32, -(10**9), 10**9),
    (torch.int32, -(1 << 31), (1 << 31) - 1),
    (torch.uint32, 0, 3 << 30),
    (torch.uint64, 0, 3 << 61),
    (torch.float64, -(1 << 51), 1 << 52),
    (torch.float32, 0, 3 << 22),
]


@native_only
@pytest.mark.parametrize(("dtype", "low", "high"), RANGES, ids=str)
def test_integers_of_wide_ranges_are_uniform(
    dtype: torch.dtype, low: int, high: int, path: str
) -> None:
    sample = empty(dtype).random_(low, high, generator=seeded(5)).cpu()
    whole = sample.to(torch.int64) if dtype != torch.uint64 else sample.view(torch.int64)
    offsets = whole.numpy().view(np.uint64) - np.array(low, np.int64).view(np.uint64)
    width = high - low
    assert (offsets < np.uint64(width)).all()
    parts = 48
    cells = np.minimum(offsets // np.uint64(width // parts), np.uint64(parts - 1)).astype(int)
    check_counts("random_", np.bincount(cells, minlength=parts), np.full(parts, 1 / parts))
    for modulus in (8, 7):
        rests = (offsets % np.uint64(modulus)).astype(int)
        chances = [(width + modulus - 1 - rest) // modulus / width for rest in range(modulus)]
        check_counts("random_", np.bincount(rests), chances)
    check_neighbours("random_", offsets)


def test_the_lower_third_of_a_range_gets_a_third(path: str) -> None:
    drawn = torch.randint(10**9, (COUNT,), device="dl", generator=seeded(6))
    share = float((drawn < 10**9 / 3).float().mean())
    assert abs(share - 1 / 3) < 6.2 * math.sqrt(2 / 9 / COUNT)


@pytest.mark.parametrize("dtype", [*INTEGERS, *WIDE, *FLOATING], ids=str)
@pytest.mark.parametrize(("low", "high"), [(0, 10), (-100, 27), (5, 6)])
def test_integers_of_small_ranges_reach_both_ends(
    low: int, high: int, dtype: torch.dtype, path: str
) -> None:
    unsigned = dtype in WIDE or dtype == torch.uint8
    low, high = (low + 100, high + 100) if unsigned else (low, high)
    drawn = torch.randint(low, high, (COUNT,), dtype=dtype, device="dl", generator=seeded(7)).cpu()
    values = drawn.to(torch.int64).numpy() - low
    assert values.min() == 0 and values.max() == high - low - 1
    if high - low > 1:
        chances = np.full(high - low, 1 / (high - low))
        check_counts("randint", np.bincount(values, minlength=high - low), chances)


@pytest.mark.parametrize("dtype", [*INTEGERS, torch.bool, *FLOATING], ids=str)
def test_integers_without_bounds_cover_the_dtype(dtype: torch.dtype, path: str) -> None:
    drawn = empty(dtype).random_(generator=seeded(8)).cpu()
    digits = {torch.float32: 24, torch.float64: 53, torch.float16: 11, torch.bfloat16: 8}
    if dtype == torch.bool:
        count = 2
    elif dtype in digits:
        count = 2 ** digits[dtype] + 1
    else:
        count = torch.iinfo(dtype).max + 1
    parts = min(count, 64)
    values = drawn.double().numpy()
    assert values.min() >= 0 and values.max() <= count - 1
    # With an odd count, the last part has one more element.
    cells = np.minimum(values // (count // parts), parts - 1).astype(int)
    chances = np.full(parts, (count // parts) / count)
    chances[-1] += count % parts / count
    check_counts("random_", np.bincount(cells, minlength=parts), chances)


@pytest.mark.parametrize("dtype", [*FLOATING, torch.bool, *INTEGERS], ids=str)
@pytest.mark.parametrize("p", [0.0, 0.001, 0.3, 0.5, 1 - 2**-10, 1.0])
def test_chances_are_kept(p: float, dtype: torch.dtype, path: str) -> None:
    sample = empty(dtype).bernoulli_(p, generator=seeded(9)).cpu()
    assert ((sample == 0) | (sample == 1)).all()
    check_counts("bernoulli_", np.bincount(sample.to(torch.int64), minlength=2), [1 - p, p])
    if 0.1 < p < 0.9:
        check_neighbours("bernoulli_", sample.double().numpy())
    if dtype.is_floating_point:
        each = torch.full((COUNT,), p, dtype=dtype, device="dl")
        held = float(each[0])
        sample = torch.bernoulli(each, generator=seeded(9)).cpu()
        check_counts("bernoulli", np.bincount(sample.long(), minlength=2), [1 - held, held])


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_dropout_keeps_its_share(p: float, dtype: torch.dtype, path: str) -> None:
    torch.manual_seed(10)
    x = torch.ones(COUNT, dtype=dtype, device="dl")
    result = torch.nn.functional.dropout(x, p).cpu()
    kept = result != 0
    check_counts("dropout", np.bincount(kept, minlength=2), [p, 1 - p])
    if p < 1:
        scale = torch.ones(1, dtype=dtype) * (1 / (1 - p))
        assert (result[kept] == scale).all()


def _cells(log_mass: Callable[[Array], Array], values: Array) -> tuple[Array, Array]:
    """Return counts and probabilities of integers from 0 on, with rare ones combined."""
    chances = np.exp(log_mass(np.arange(500.0)))
    often = np.flatnonzero(chances * values.size >= 50)
    counts = np.bincount(values.astype(int), minlength=500)[often]
    chances = chances[often]
    rest = max(0.0, 1 - chances.sum())
    if rest * values.size < 50:
        # Too few to be tested separately.
        most = np.argmax(chances)
        chances[most] += rest
        counts[most] += values.size - counts.sum()
        return counts, chances
    return np.append(counts, values.size - counts.sum()), np.append(chances, rest)


@pytest.mark.parametrize("dtype", [*FLOATING, torch.int64, torch.int32, torch.int16], ids=str)
@pytest.mark.parametrize("p", [0.05, 0.5, 0.97])
def test_geometric_numbers_count_trials(p: float, dtype: torch.dtype, path: str) -> None:
    values = empty(dtype).geometric_(p, generator=seeded(11)).cpu().long().numpy()

    def mass(k: Array) -> Array:
        return math.log(p) + k * math.log1p(-p)

    check_counts("geometric_", *_cells(mass, values - 1))


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("replacement", [True, False])
def test_choices_follow_their_weights(replacement: bool, dtype: torch.dtype, path: str) -> None:
    weights = np.array([1.0, 0.0, 3.0, 4.0])
    rows = torch.tensor(weights, dtype=dtype, device="dl").expand(COUNT, 4)
    drawn = torch.multinomial(rows, 2, replacement, generator=seeded(12)).cpu().numpy()
    first = weights / 8
    # Probabilities of the second choice given the first.
    second = np.tile(first, (4, 1))
    if not replacement:
        np.fill_diagonal(second, 0)
        second /= second.sum(1, keepdims=True)
    counts = np.bincount(drawn[:, 0] * 4 + drawn[:, 1], minlength=16)
    check_counts("multinomial", counts, (first[:, None] * second).ravel())


def test_permutations_are_equally_frequent(path: str) -> None:
    generator = seeded(13)
    count = 6000
    codes = torch.stack([torch.randperm(4, device="dl", generator=generator) for _ in range(count)])
    keys = (codes.cpu() * torch.tensor([64, 16, 4, 1])).sum(1).numpy()
    found, counts = np.unique(keys, return_counts=True)
    assert found.size == 24
    check_counts("randperm", counts, np.full(24, 1 / 24))


def test_long_permutations_mix_all_places(path: str) -> None:
    n = 100_000
    order = torch.randperm(n, device="dl", generator=seeded(14)).cpu().numpy()
    assert np.array_equal(np.sort(order), np.arange(n))
    check_neighbours("randperm", order)
    parts = order.reshape(10, -1) // (n // 10)
    counts = np.stack([np.bincount(part, minlength=10) for part in parts])
    check_counts("randperm", counts.ravel(), np.full(100, 0.01))


_log_gamma = np.vectorize(math.lgamma, otypes=[float])


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("mean", [0.3, 9.5, 10.5, 100.0])
def test_poisson_numbers_count_arrivals(mean: float, dtype: torch.dtype, path: str) -> None:
    rates = empty(dtype, FEWER).fill_(mean)
    mean = float(rates[0])
    values = torch.poisson(rates, generator=seeded(15)).cpu().double().numpy()

    def mass(k: Array) -> Array:
        return k * math.log(mean) - mean - _log_gamma(k + 1)

    check_counts("poisson", *_cells(mass, values))


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize(("n", "p"), [(10, 0.3), (200, 0.02), (100, 0.5), (120, 0.9)])
def test_binomial_numbers_count_successes(n: int, p: float, dtype: torch.dtype, path: str) -> None:
    trials, chance = empty(dtype, FEWER).fill_(n), empty(dtype, FEWER).fill_(p)
    p = float(chance[0])
    values = torch.binomial(trials, chance, generator=seeded(16)).cpu().double().numpy()
    choices = math.lgamma(n + 1)

    def mass(k: Array) -> Array:
        k = np.minimum(k, n + 1)
        ways = choices - _log_gamma(k + 1) - _log_gamma(np.maximum(n - k, 0) + 1)
        return np.where(k > n, -np.inf, ways + k * math.log(p) + (n - k) * math.log1p(-p))

    check_counts("binomial", *_cells(mass, values))

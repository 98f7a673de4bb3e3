import math

import numpy as np
import pytest

from diopi_proto.tolerance import compare_distribution


def uniform(x):
    return np.clip(x, 0, 1)


def normal(x):
    return np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in x])


def bernoulli(p):
    return (
        lambda x: np.where(x < 0, 0.0, np.where(x < 1, 1 - p, 1.0)),
        lambda x: np.where(x <= 0, 0.0, np.where(x <= 1, 1 - p, 1.0)),
    )


@pytest.mark.parametrize("seed", range(20))
def test_right_distributions_never_alarm(seed):
    rng = np.random.default_rng(seed)
    assert compare_distribution(rng.uniform(0, 1, (50, 40)).astype(np.float32), uniform).ok
    assert compare_distribution(rng.standard_normal(2000), normal).ok
    assert compare_distribution(rng.uniform(0, 1, 2000) < 0.3, *bernoulli(0.3)).ok


@pytest.mark.parametrize(
    "wrong",
    [
        lambda rng: rng.uniform(0, 0.9, 10_000),
        lambda rng: rng.uniform(0.1, 1, 10_000),
        lambda rng: rng.uniform(0, 1, 10_000) ** 1.3,
        lambda rng: np.full(10_000, 0.5),
        lambda rng: np.zeros(10_000),
        lambda rng: rng.integers(0, 4, 10_000) / 4,
        lambda rng: np.where(np.arange(10_000) < 9000, rng.uniform(0, 1, 10_000), 0),
    ],
)
def test_wrong_distributions_are_caught(wrong):
    outcome = compare_distribution(wrong(np.random.default_rng(0)), uniform)
    assert not outcome.ok
    assert outcome.distance > outcome.allowed


@pytest.mark.parametrize("rate", [0.2, 0.4, 0.0, 1.0])
def test_a_wrong_dropout_rate_is_caught(rate):
    kept = np.random.default_rng(1).uniform(0, 1, 10_000) < rate
    outcome = compare_distribution(kept, *bernoulli(0.3))
    assert not outcome.ok
    assert outcome.distance == pytest.approx(abs(kept.mean() - 0.3))


def test_samples_that_say_nothing_are_not_ok():
    assert not compare_distribution(np.array([]), uniform).ok
    assert not compare_distribution(np.array([0.5, np.nan]), uniform).ok


def test_the_allowance_shrinks_with_the_root_of_the_sample():
    rng = np.random.default_rng(2)
    small, large = (compare_distribution(rng.uniform(0, 1, n), uniform) for n in (100, 10_000))
    assert small.allowed == pytest.approx(10 * large.allowed)
    assert small.allowed == pytest.approx(math.sqrt(math.log(2e9) / 200))


def test_report():
    outcome = compare_distribution(np.zeros(100), uniform)
    assert outcome.report("rand on x") == (
        "rand on x: 100 elements do not follow the distribution\n"
        "  distance 1.00e+00, allowed 3.27e-01"
    )

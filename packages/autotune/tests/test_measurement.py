"""Races and claims with simulated clocks, without waiting, and with fixed seeds."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from scipy.stats import t as student

from dl_autotune.observers import (
    Calibration,
    Interval,
    Race,
    RaceSettings,
    Verdict,
    bootstrap,
    calibrate,
    claim,
    race,
    warm_up,
)
from dl_autotune.observers.quantile import t_quantile


class Machine:
    """Times with noise, spikes, and a clock frequency that all runs share."""

    def __init__(self, seed: int, noise: float = 0.03, spikes: float = 0.05) -> None:
        self.random = random.Random(seed)
        self.noise, self.spikes = noise, spikes
        self.runs = 0
        self.speed: Callable[[int], float] = lambda runs: 1.0

    def kernel(self, seconds: float) -> Callable[[], float]:
        def run() -> float:
            self.runs += 1
            spike = 3.0 if self.random.random() < self.spikes else 1.0
            noise = math.exp(self.random.gauss(0, self.noise))
            return seconds * noise * spike / self.speed(self.runs)

        return run


def test_a_faster_candidate_is_found_with_its_ratio() -> None:
    machine = Machine(1)
    found = race(machine.kernel(1.2e-3), machine.kernel(1e-3), seed=1)
    assert 1.2 in found.interval
    assert found.interval.low > 1.1
    assert len(found.baseline) == len(found.candidate) == 3 * len(found.ratios)


def test_a_machine_that_slows_down_does_not_change_the_ratio() -> None:
    machine = Machine(2)
    machine.speed = lambda runs: 1.0 if runs < 60 else 0.5
    settings = RaceSettings(precision=0.0)
    found = race(machine.kernel(1.1e-3), machine.kernel(1e-3), settings, seed=1)
    assert 1.1 in found.interval
    # The ratio to a baseline that was measured only once, before.
    first = sorted(found.baseline[:9])[4]
    late = sorted(found.candidate[-9:])[4]
    assert first / late < 0.7


def test_equal_kernels_rarely_win() -> None:
    wins = 0
    for seed in range(100):
        machine = Machine(seed, noise=0.05)
        found = race(machine.kernel(1e-3), machine.kernel(1e-3), seed=seed)
        wins += 1.0 not in found.interval
    assert wins <= 0.05 * 100


def test_intervals_contain_the_truth_as_often_as_they_say() -> None:
    inside = 0
    for seed in range(100):
        machine = Machine(seed, noise=0.1)
        found = race(machine.kernel(1.05e-3), machine.kernel(1e-3), seed=seed)
        inside += 1.05 in found.interval
    assert inside >= 0.93 * 100


def test_a_hopeless_candidate_costs_one_look_and_a_close_one_more() -> None:
    settings = RaceSettings(looks=(4, 8, 16), hopeless=0.8, precision=0.001)
    lost = race(Machine(1).kernel(1e-3), Machine(2).kernel(2e-3), settings, seed=1)
    assert len(lost.ratios) == 4
    close = race(Machine(1).kernel(1e-3), Machine(2).kernel(1.01e-3), settings, seed=1)
    assert len(close.ratios) == 16


def test_a_race_ends_by_its_seconds_too() -> None:
    settings = RaceSettings(seconds=0.05, repeats=1)
    found = race(Machine(1).kernel(0.02), Machine(2).kernel(0.02), settings, seed=1)
    assert len(found.ratios) == 2


def test_the_order_within_blocks_is_random_and_seeded() -> None:
    def order(seed: int) -> str:
        letters: list[str] = []

        def side(letter: str) -> Callable[[], float]:
            def run() -> float:
                letters.append(letter)
                return 1e-3

            return run

        race(side("a"), side("b"), RaceSettings(repeats=1, looks=(16,)), seed=seed)
        return "".join(letters)[-32:]

    assert order(1) == order(1) != order(2)
    pairs = [order(1)[i : i + 2] for i in range(0, 32, 2)]
    assert set(pairs) == {"ab", "ba"}


def test_warming_up_ends_when_times_are_stable_or_is_given_up() -> None:
    falling = iter([10.0, 8, 6, 4, 3, 2, 1.5, 1.2, 1.1, 1, *[1.0] * 90])
    assert 10 < warm_up(lambda: next(falling) * 1e-3) < 25
    rising = iter(range(1, 1000))
    assert warm_up(lambda: 1.2 ** next(rising) * 1e-9, most=40) == 40
    assert warm_up(lambda: 1.5, seconds=2.0) == 2


def test_a_noisy_machine_calibrates_to_a_wider_noise() -> None:
    quiet = calibrate(Machine(1, noise=0.005, spikes=0).kernel(1e-3), seed=1)
    assert quiet.noise < 0.01

    def biased(low: float, high: float) -> Race:
        return Race(Interval(math.sqrt(low * high), low, high), (1.0,), (), ())

    # A/A races with ratios of at least 1.05, or at most 0.9.
    assert Calibration.of([biased(1.05, 1.1)]).noise == pytest.approx(0.05)
    assert Calibration.of([biased(0.8, 0.9)]).noise == pytest.approx(1 / 0.9 - 1)
    assert Calibration.of([biased(0.9, 1.1)]).noise == 0.0
    with pytest.raises(ValueError, match="races=0"):
        calibrate(lambda: 1.0, races=0, seed=1)


def in_a_process(seed: int, true: float, luck: float) -> Race:
    """Race in a process whose memory layout happens to favor one side."""
    machine = Machine(seed)
    bias = math.exp(random.Random(seed + 10**6).gauss(0, luck))
    settings = RaceSettings(looks=(8,))
    return race(machine.kernel(1e-3 * true * bias), machine.kernel(1e-3), settings, seed=seed)


@pytest.mark.parametrize("luck", [0.0, 0.05])
def test_a_rerun_in_a_fresh_process_falls_into_the_claimed_interval(luck: float) -> None:
    inside = wins = 0
    for seed in range(60):
        races = [in_a_process(1000 * seed + i, 1.2, luck) for i in range(5)]
        said = claim(races, Calibration(0.0, 1), seed=seed)
        rerun = in_a_process(1000 * seed + 99, 1.2, luck)
        inside += rerun.interval.ratio in said.interval
        same = [in_a_process(1000 * seed + 200 + i, 1.0, luck) for i in range(5)]
        wins += claim(same, Calibration(0.0, 1), seed=seed).verdict is not Verdict.NO_WINNER
    assert inside >= 0.9 * 60
    assert wins <= 0.05 * 60


def test_the_verdict_may_be_no_winner() -> None:
    races = [in_a_process(i, 1.1, 0.0) for i in range(3)]
    assert claim(races, Calibration(0.0, 1), seed=1).verdict is Verdict.FASTER
    noisy = claim(races, Calibration(0.2, 1), seed=1)
    assert noisy.verdict is Verdict.NO_WINNER
    assert "no significant winner: 1.1" in str(noisy)
    slower = [in_a_process(i, 0.8, 0.0) for i in range(3)]
    assert claim(slower, Calibration(0.0, 1), seed=1).verdict is Verdict.SLOWER
    with pytest.raises(ValueError, match="no races"):
        claim([], Calibration(0.0, 1), seed=1)


def test_the_bootstrap_is_of_positive_ratios() -> None:
    assert bootstrap([2.0, 2.0, 2.0], confidence=0.95, seed=1) == Interval(
        pytest.approx(2), pytest.approx(2), pytest.approx(2)
    )
    for bad in ([1.0], [1.0, 0.0]):
        with pytest.raises(ValueError, match="two or more positive"):
            bootstrap(bad, confidence=0.95, seed=1)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 15, 31])
@pytest.mark.parametrize("probability", [0.6, 0.9, 0.975, 0.9875])
def test_quantiles_are_those_of_student(probability: float, freedom: int) -> None:
    expected = student.ppf(probability, freedom)
    assert t_quantile(probability, freedom) == pytest.approx(expected, rel=0.02)
    assert t_quantile(1 - probability, freedom) == pytest.approx(-expected, rel=0.02)


@pytest.mark.parametrize(
    ("ratio", "verdict", "shown"),
    [
        (1.0004, Verdict.NO_WINNER, "1.000"),
        (1.0006, Verdict.FASTER, "1.001"),
        (0.9996, Verdict.NO_WINNER, "1.000"),
        (0.9994, Verdict.SLOWER, "0.999"),
    ],
)
def test_a_ratio_that_prints_as_1_000_is_not_a_win(
    ratio: float, verdict: Verdict, shown: str
) -> None:
    same = Race(Interval(ratio, ratio, ratio), (ratio,) * 8, (1.0,) * 8, (1.0,) * 8)
    said = claim([same, same], Calibration(0.0, 1), seed=1)
    assert (said.verdict, f"{said.interval.low:.3f}") == (verdict, shown)

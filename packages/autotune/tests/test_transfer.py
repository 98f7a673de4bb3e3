"""Transfer: earlier studies of a kernel start a search, misleading ones cost little, and none of a
simulated device is believed by a real one."""

from __future__ import annotations

import dataclasses
import functools
import math
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from dl_autotune.layers import open_layers
from dl_autotune.report import study_page
from dl_autotune.runners.database import Database, StoredTransfer, StoredTrial, Study
from dl_autotune.runners.earlier import find_transfer
from dl_autotune.runners.kernel_worker import Target
from dl_autotune.runners.tuner import Plan, Tuner
from dl_autotune.show import show_studies
from dl_autotune.spaces import Config
from dl_autotune.strategies import (
    STRATEGIES,
    Budget,
    Known,
    Outcome,
    Prior,
    make_strategy,
    search,
)
from dl_autotune.strategies.prior import LEAST, POINTS, translate
from dl_core.simulation import mark_simulated
from test_strategies import LARGE as SPACE

KERNEL = Path(__file__).parent / "kernels" / "twice.py"
DEFAULT = SPACE.config(0)
IDENTITY = {"kernel": "gemm.cu", "function": "gemm", "source": "a1", "shape": {"m": 512}}
Trials = Sequence[tuple[Config, float | None]]


def seconds(config: Config, best_m: int = 64) -> float | None:
    """Return the time of a kernel whose best tile depends on the device; large ones fail."""
    c = {name: value for name, value in config.items() if not isinstance(value, str)}
    if c["tile_m"] * c["tile_n"] * c["lanes"] > 16384:
        return None
    away = abs(math.log2(c["tile_m"] / best_m)) + abs(math.log2(c["tile_n"] / 32))
    away += abs(math.log2(c["tile_k"] / 16)) + abs(c["unroll"] - 1) + abs(math.log2(c["lanes"] / 4))
    return 1.0 + 0.3 * away + (0.5 if config["layout"] == "row" else 0.0)


@functools.cache
def best_seconds() -> float:
    return min(filter(None, map(seconds, SPACE.configs())))


def answer(points: Sequence[int]) -> list[Outcome]:
    return [Outcome(point, seconds(SPACE.config(point))) for point in points]


def fraction(trials: Trials | None, evaluations: int, seed: int) -> float:
    """Return the best speed that a search finds, relative to the optimum."""
    prior = None
    if trials is not None:
        known = Known.of(SPACE, trials)
        assert known is not None
        prior = Prior(SPACE, [known], seed)
    strategy = make_strategy("guided-climbing", SPACE, seed=seed, prior=prior)
    found = search(strategy, answer, Budget(evaluations=evaluations))
    return best_seconds() / min(o.value for o in found if o.value is not None)


def study_of(label: Callable[[Config], float | None], seed: int) -> Trials:
    """Return the trials of a study with 60 random configurations."""
    configs = map(SPACE.config, SPACE.sample(60, seed=1000 + seed))
    return [(config, label(config)) for config in configs]


def speed(config: Config) -> float | None:
    """Return the speed on another device, whose best tile is smaller."""
    time = seconds(config, best_m=32)
    return None if time is None else 1 / time


def misleading(config: Config) -> float:
    """Return a higher speed for a worse configuration; failures are the best."""
    return seconds(config) or 9.0


def random_speed(config: Config) -> float:
    return np.random.default_rng(SPACE.point(config)).uniform(0.5, 2.0)


@functools.cache
def mean(label: Callable[[Config], float | None] | None, evaluations: int) -> float:
    found = [
        fraction(None if label is None else study_of(label, seed), evaluations, seed)
        for seed in range(24)
    ]
    return float(np.mean(found))


def test_a_study_of_another_device_helps() -> None:
    assert mean(speed, 30) > mean(None, 30) + 0.03


@pytest.mark.parametrize("label", [misleading, random_speed])
def test_a_misleading_study_costs_at_most_two_percent(
    label: Callable[[Config], float | None],
) -> None:
    assert mean(label, 30) >= mean(None, 30) - 0.02


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_begins_with_the_points_of_earlier_studies(name: str) -> None:
    known = Known.of(SPACE, study_of(speed, 1))
    assert known is not None
    prior = Prior(SPACE, [known])
    strategy = make_strategy(name, SPACE, seed=1, prior=prior)
    assert len(prior.points) == POINTS
    first: list[int] = []
    for _ in range(3):
        points = strategy.ask(4)
        # The first points are the best ones here too, so that the strategy continues with them.
        strategy.tell([Outcome(p, 1.0 if p in prior.points else 2.0) for p in points])
        first += points
    assert set(prior.points) <= set(first)
    assert len(set(first)) == len(first)


def test_further_points_of_a_misleading_study_are_not_evaluated() -> None:
    known = Known.of(SPACE, study_of(misleading, 1))
    assert known is not None
    prior = Prior(SPACE, [known])
    strategy = make_strategy("guided-climbing", SPACE, seed=1, prior=prior)
    points = strategy.ask(4)
    assert set(points) & set(prior.points) == set(prior.points[:2])
    strategy.tell([Outcome(p, 3.0 if p in prior.points else 2.0) for p in points])
    assert not set(strategy.ask(4)) & set(prior.points)


def test_the_points_are_the_best_ones_and_unlike_each_other() -> None:
    trials = study_of(speed, 1)
    known = Known.of(SPACE, trials)
    assert known is not None
    prior = Prior(SPACE, [known])
    speeds = {SPACE.point(config): value or 0.0 for config, value in trials}
    assert speeds[prior.points[0]] == max(speeds.values())
    rows = SPACE.positions(prior.points)
    apart = [(a != b).sum() for i, a in enumerate(rows) for b in rows[:i]]
    assert min(apart) >= 2
    # Predictions order points that no study has.
    fresh = SPACE.sample(200, seed=5)
    times = np.array([seconds(SPACE.config(p), 32) or np.nan for p in fresh])
    valid = ~np.isnan(times)
    assert np.corrcoef(prior.predict(fresh)[valid], np.log(times[valid]))[0, 1] > 0.5


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"tile_m": 60}, {"tile_m": 64}),
        ({"tile_m": 4096}, {"tile_m": 128}),
        ({"tile_m": 64.0}, {"tile_m": 64}),
        ({"extra": 3}, {}),
        ({"tile_m": "wide"}, None),
        ({"tile_m": -8}, None),
        ({"tile_m": math.nan}, None),
        ({"tile_m": math.inf}, None),
        ({"tile_m": 10**400}, None),
        ({"unroll": -5}, {"unroll": 0}),
        ({"layout": "diagonal"}, None),
        ({"layout": 1}, None),
    ],
)
def test_values_of_other_spaces_become_the_nearest_or_the_trial_is_left_out(
    change: Config, expected: Config | None
) -> None:
    config = {**SPACE.config(100), **change}
    point = translate(SPACE, config, DEFAULT)
    if expected is None:
        assert point is None
    else:
        assert point is not None
        assert SPACE.config(point) == {**SPACE.config(100), **expected}


def test_parameters_that_a_study_lacks_have_the_values_of_the_default() -> None:
    config = SPACE.config(100)
    part = {name: config[name] for name in ("tile_m", "tile_n", "tile_k", "lanes", "unroll")}
    point = translate(SPACE, part, DEFAULT)
    assert point is not None
    assert SPACE.config(point) == {**part, "layout": DEFAULT["layout"]}
    assert translate(SPACE, part, {}) is None
    # Too few in common: the other kernel has little to do with this one.
    assert translate(SPACE, {"tile_m": 8, "tile_n": 8}, DEFAULT) is None


@pytest.mark.parametrize(
    "trials",
    [
        [],
        [({"other": 1}, 1.0)] * 9,
        [(config, None) for config in map(SPACE.config, range(30))],
        [(config, 1.0) for config in map(SPACE.config, range(LEAST - 1))],
        [(config, math.nan) for config in map(SPACE.config, range(30))],
    ],
    ids=["empty", "other space", "all failed", "too few", "not a number"],
)
def test_a_study_without_enough_timed_trials_is_not_used(trials: Trials) -> None:
    assert Known.of(SPACE, trials) is None


@pytest.mark.parametrize("value", [1.0, 5e-324, 1.7e308])
def test_equal_and_extreme_speeds_are_harmless(value: float) -> None:
    trials = [(config, value) for config in map(SPACE.config, range(30))]
    assert fraction([*trials, (SPACE.config(40), 1.0)], 30, 1) > 0.5
    assert fraction(trials, 30, 1) > 0.5


def filled(database: Database, **identity: object) -> Study:
    """Store a study of the kernel with trials of random configurations."""
    study = database.study({**IDENTITY, "device": "A100", **identity})
    with database.transaction():
        for config, value in study_of(speed, 1):
            trial = StoredTrial(config, "runtime", "error")
            if value is not None:
                trial = StoredTrial(config, "correct", "", value, value, value, (1.0,), (1.0,))
            database.record(study, trial)
    return study


def sources(database: Database, new: Study, **layers: Database) -> list[tuple[str, str]]:
    every = [("user", database), *layers.items()]
    found = find_transfer(new, SPACE, DEFAULT, every, 0)
    return [] if found is None else [(each.layer, each.source) for each in found.sources]


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "t.sqlite")


def test_studies_of_other_devices_shapes_and_releases_are_found_in_all_layers(
    database: Database, tmp_path: Path
) -> None:
    other = filled(database, source="b2")
    small = filled(database, shape={"m": 64})
    site = Database(tmp_path / "site.sqlite")
    near = filled(site, shape={"m": 600})
    new = database.study({**IDENTITY, "device": "H100"})
    # The same source in a similar shape is first, another source last.
    expected = [("site", near.key), ("user", small.key), ("user", other.key)]
    assert sources(database, new, site=site) == expected
    found = find_transfer(new, SPACE, DEFAULT, [("user", database), ("site", site)], 0)
    assert found is not None
    configs = [config for each in found.sources for config in each.configs]
    assert [SPACE.point(config) for config in configs] == sorted(
        found.prior.points, key=[SPACE.point(c) for c in configs].index
    )
    assert len(configs) == POINTS


@pytest.mark.parametrize(
    "identity",
    [
        {"kernel": "other.cu"},
        {"function": "other"},
        {"kernel": "operator"},
        {"device": mark_simulated("A100")},
    ],
)
def test_other_kernels_and_simulated_devices_are_not_used(
    database: Database, identity: dict[str, str]
) -> None:
    filled(database, **identity)
    assert sources(database, database.study({**IDENTITY, "device": "H100"})) == []


def test_a_simulated_device_learns_from_simulated_ones_alone(database: Database) -> None:
    filled(database)
    simulated = filled(database, device=mark_simulated("A100"))
    new = database.study({**IDENTITY, "device": mark_simulated("H100")})
    assert sources(database, new) == [("user", simulated.key)]


def test_a_study_does_not_learn_from_itself_or_twice_from_one(
    database: Database, tmp_path: Path
) -> None:
    study = filled(database)
    copy = Database(tmp_path / "copy.sqlite")
    filled(copy)
    assert sources(database, study, site=copy) == []
    new = database.study({**IDENTITY, "device": "H100"})
    assert sources(database, new, site=copy) == [("user", study.key)]


def test_damaged_rows_of_an_earlier_study_are_left_out(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    study = filled(database)
    with sqlite3.connect(database.path) as connection:
        connection.execute("UPDATE trials SET ratio = 'NaN', low = 'x' WHERE number < 30")
        connection.execute("UPDATE trials SET config = '{\"tile_m\": NaN}' WHERE number = 31")
    connection.close()
    new = database.study({**IDENTITY, "device": "H100"})
    found = find_transfer(new, SPACE, DEFAULT, [("user", database)], 0)
    assert found is not None
    assert found.sources[0].trials < 31
    assert study.key in caplog.text


def test_a_layer_without_studies_is_read_and_not_written(
    database: Database, tmp_path: Path
) -> None:
    path = tmp_path / "choices.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE choices (identity, key, choice)")
    connection.close()
    before = path.read_bytes()
    study = filled(database)
    wheel = Database(path, read_only=True)
    new = database.study({**IDENTITY, "device": "H100"})
    assert sources(database, new, wheel=wheel) == [("user", study.key)]
    wheel.close()
    assert path.read_bytes() == before


def test_what_was_transferred_is_stored(database: Database) -> None:
    study, new = filled(database), database.study({**IDENTITY, "device": "H100"})
    configs = (SPACE.config(1), SPACE.config(2))
    made = StoredTransfer(study.key, "site", study.identity, configs, 60, 3)
    database.record_transfer(new, made)
    assert database.transfers(new) == [made]
    database.forget(new)
    assert database.transfers(new) == []


def tuner(database: Database, *, transfer: bool) -> Tuner:
    made = Tuner(Target(KERNEL, "cpu"), database, Plan(transfer=transfer))
    made.kernel = dataclasses.replace(made.kernel, space=SPACE, default=DEFAULT)
    return made


def test_a_tuner_begins_with_earlier_studies_unless_it_is_told_not_to(database: Database) -> None:
    filled(database)
    new = database.study({**IDENTITY, "device": "H100"})
    cold = tuner(database, transfer=False)._strategy(new).ask(4)
    assert database.transfers(new) == []
    warm = tuner(database, transfer=True)._strategy(new).ask(4)
    (stored,) = database.transfers(new)
    assert len(stored.configs) == POINTS
    points = {SPACE.point(config) for config in stored.configs}
    assert len(points & set(warm)) == 2
    assert not points & set(cold)


def test_show_and_the_report_list_what_was_taken(
    database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study, new = filled(database), database.study({**IDENTITY, "device": "H100"})
    configs = (SPACE.config(1), SPACE.config(2), SPACE.config(3))
    made = StoredTransfer(study.key, "site", study.identity, configs, 60, 3)
    database.record_transfer(new, made)
    good = StoredTrial(configs[0], "correct", "", 1.25, 1.2, 1.3, (1.0,), (0.8,))
    database.record(new, good)
    database.record(new, StoredTrial(configs[1], "compile", "error: no"))
    assert show_studies(new.key, database) == 0
    said = capsys.readouterr().out
    told = f"3 configurations and predictions from 60 trials of {study.key} (m=512 on A100;"
    assert f"earlier: {told} layer site), 3 outside of the space" in said
    assert "1.250 x [1.200, 1.300], tile_m=8" in said
    assert "compile: error: no, tile_m=8" in said
    assert "not evaluated, tile_m=8" in said
    page = study_page(new, database.trials(new), None, database.transfers(new))
    assert told in page
    assert told not in study_page(new, database.trials(new), None)


def test_a_damaged_transfer_is_left_out(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    study, new = filled(database), database.study({**IDENTITY, "device": "H100"})
    database.record_transfer(new, StoredTransfer(study.key, "site", {}, (), 60, 3))
    with sqlite3.connect(database.path) as connection:
        connection.execute("UPDATE transfers SET configs = '[{\"tile_m\": [1]}]'")
    connection.close()
    assert database.transfers(new) == []
    assert "transfer 1 is damaged and left out" in caplog.text


def test_an_unusable_layer_is_left_out_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = tmp_path / "text.sqlite"
    text.write_text("not a database\n" * 100)
    monkeypatch.setenv("DL_TUNING_SITE", str(text))
    monkeypatch.setenv("DL_TUNING_DATABASE", str(tmp_path / "user.sqlite"))
    assert "site" not in [name for name, _ in open_layers()]
    assert "layer 'site' is ignored" in caplog.text
    Database(text.with_name("site.sqlite")).close()
    monkeypatch.setenv("DL_TUNING_SITE", str(text.with_name("site.sqlite")))
    assert "site" in [name for name, _ in open_layers()]

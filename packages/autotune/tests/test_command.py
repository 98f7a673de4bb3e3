"""``dl tune`` on an existing database: tables, exports, and messages about invalid arguments."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

import pytest

from dl_autotune.command import configure, run
from dl_autotune.kernel import load_kernel
from dl_autotune.observers import Claim, Interval, Verdict
from dl_autotune.runners.database import Database, StoredClaim, StoredTrial, Study
from dl_autotune.runners.kernel_worker import Target
from dl_autotune.runners.plan import Plan, Tuned
from dl_autotune.spaces.recorded import read_recording
from dl_autotune.strategies import DEFAULT

GOOD = StoredTrial({"tile": 8}, "correct", "", 1.25, 1.2, 1.3, (5e-3, 5e-3), (4e-3, 4e-3))
BAD = StoredTrial({"tile": 16}, "compile", "error: no")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trials.sqlite"


@pytest.fixture
def study(path: Path) -> Study:
    database = Database(path)
    made = database.study({"kernel": "gemm.cpp", "function": "gemm", "shape": {"m": 3}})
    database.record(made, BAD)
    database.record(made, GOOD)
    database.close()
    return made


def tune(*words: str) -> int:
    parser = argparse.ArgumentParser()
    configure(parser)
    return run(parser.parse_args(list(words)))


def test_an_export_is_read_again(study: Study, path: Path, tmp_path: Path) -> None:
    file = tmp_path / "found_T4.json"
    assert tune("export", study.key[:5], str(file), "--database", str(path)) == 0
    found = read_recording(file)
    assert found.space.size == 2
    times = dict(zip([c["tile"] for c in found.space.configs()], found.runs, strict=True))
    assert times == {8: (4.0, 4.0), 16: ()}
    assert dict(zip(times, found.reasons, strict=True)) == {8: "", 16: "compile"}


def test_an_export_has_the_default_configuration(path: Path, tmp_path: Path) -> None:
    database = Database(path)
    made = database.study({"kernel": "gemm.cpp", "function": "gemm", "default": {"tile": 4}})
    database.record(made, BAD)
    file = tmp_path / "t4.json"
    options = (str(file), "--database", str(path), "--force")
    assert tune("export", made.key, *options) == 0
    # No race has measured the default.
    assert [r["configuration"] for r in json.loads(file.read_text())["results"]] == [{"tile": 16}]
    database.record(made, GOOD)
    assert tune("export", made.key, *options) == 0
    found = read_recording(file)
    runs = dict(zip([c["tile"] for c in found.space.configs()], found.runs, strict=True))
    assert runs == {4: (5.0, 5.0), 8: (4.0, 4.0), 16: ()}
    # A trial of the default, which exists if the default has changed, is not exported twice.
    database.record(made, dataclasses.replace(GOOD, config={"tile": 4}))
    assert tune("export", made.key, *options) == 0
    assert read_recording(file).space.size == 3


def test_studies_and_trials_are_shown_the_best_first(
    study: Study, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tune("show", "--database", str(path)) == 0
    assert "gemm.cpp:gemm (m=3)" in capsys.readouterr().out
    assert tune("show", study.key, "--database", str(path)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == ["  1.250 x [1.200, 1.300], tile=8", "  compile: error: no, tile=16"]


def test_operators_are_shown_with_the_selected_implementation(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = Database(path)
    identity = {"kernel": "operator", "function": "mm(float32[4, 4])", "vendor": "cpu"}
    made = database.study(identity)
    races = ((1.5, 1.5),)
    config = {"gemm:9,9": "own"}
    database.claim(made, StoredClaim(config, "faster", 1.5, 1.4, 1.6, 0.0, races))
    assert tune("show", "--database", str(path)) == 0
    said = "operator:mm(float32[4, 4]) on cpu, 0 trials, faster: 1.500 x [1.400, 1.600], gemm=own"
    assert said in capsys.readouterr().out
    database.claim(made, StoredClaim({}, "no significant winner", 1.0, 1.0, 1.0, 0.0, ()))
    assert tune("show", "--database", str(path)) == 0
    assert capsys.readouterr().out.endswith("on cpu, 0 trials, no significant winner\n")
    assert tune("report", made.key, str(path.with_suffix(".html")), "--database", str(path)) == 0


def test_all_trials_are_shown_where_asked_for(
    study: Study, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = Database(path)
    for tile in range(20):
        database.record(study, StoredTrial({"tile": 100 + tile}, "compile", "error: no"))
    assert tune("show", study.key, "--database", str(path)) == 0
    assert capsys.readouterr().out.endswith("  ... and 12 more: --all shows them\n")
    assert tune("show", study.key, "--all", "--database", str(path)) == 0
    assert capsys.readouterr().out.count("tile=") == 22


def test_mistakes_are_reported(
    study: Study, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = ("--database", str(path))
    assert tune("show", "none", *database) == 2
    assert f"no study begins with 'none'; available: {study.key}" in capsys.readouterr().err
    taken = tmp_path / "taken"
    taken.write_text("mine")
    assert tune("export", study.key, str(taken), *database) == 2
    assert "taken exists; --force replaces it" in capsys.readouterr().err
    assert tune("kernel", "x.py", "--report", str(taken), *database) == 2
    assert "taken exists; --force replaces it" in capsys.readouterr().err
    assert taken.read_text() == "mine"
    assert tune("export", study.key, str(taken), "--force", *database) == 0
    assert taken.read_text().startswith("{")
    assert tune("export", study.key, str(taken / "file"), *database) == 2
    assert f"cannot be written: {taken} is not a writable folder" in capsys.readouterr().err
    assert tune("kernel", "x.py", "--workers", "0", *database) == 2
    assert "--workers 0: give 1 or more" in capsys.readouterr().err
    assert tune("kernel", "x.py", "--limit", "0", *database) == 2
    assert "--limit 0: give more than 0 seconds" in capsys.readouterr().err
    for words in (["kernel", "x.py"], ["op", "mm", "--shapes", "2x2"], ["model"]):
        assert tune(*words, *database, "--processes", "1") == 2
        assert "--processes 1: give 2 or more" in capsys.readouterr().err
    assert tune("kernel", str(tmp_path / "x.py"), *database) == 2
    assert "x.py: FileNotFoundError" in capsys.readouterr().err
    assert tune("kernel", "x.py", "--evaluations", "0", *database) == 2
    assert "evaluations=0 must be above 0" in capsys.readouterr().err


def test_output_files_need_an_existing_folder(
    study: Study, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = ("--database", str(path))
    Database(path).claim(study, StoredClaim({"tile": 8}, "faster", 1.2, 1.1, 1.3, 0.0, ()))
    source = tmp_path / "gemm.cpp"
    source.write_text("x")
    below = tmp_path / "missing" / "deep"
    for words in (
        ["report", study.key, str(below / "page.html")],
        ["export", study.key, str(below / "t4.json")],
        ["apply", study.key, str(source), "--output", str(below / "gemm.cpp")],
        ["kernel", "x.py", "--report", str(below / "page.html")],
    ):
        assert tune(*words, *database) == 2
        said = capsys.readouterr().err
        assert f"cannot be written: there is no folder {below}; create it, or name" in said
    assert not below.parent.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], ""),
        (["--strategy", "random"], "unused  --strategy: nothing was searched; with --again, the"),
        (["--strategy", "random", "--seed", "3"], "unused  --strategy and --seed: nothing was"),
        (["--seed", "0"], "unused  --seed: nothing was searched"),
    ],
)
@pytest.mark.parametrize("reused", [True, False])
def test_options_that_a_finished_study_leaves_unused_are_reported(
    study: Study,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    said: str,
    reused: bool,
) -> None:
    plans: list[Plan] = []

    class Finished:
        def __init__(self, target: Target, database: Database, plan: Plan, *_: object) -> None:
            plans.append(plan)
            self.kernel = load_kernel(Path(__file__).parent / "kernels" / "twice.py")

        def run(self, *, again: bool) -> Tuned:
            claim = Claim(Verdict.FASTER, Interval(1.5, 1.4, 1.6))
            return Tuned(study, {"tile": 8}, claim, 2, reused=reused)

    monkeypatch.setattr("dl_autotune.command.Tuner", Finished)
    assert tune("kernel", "x.py", "--database", str(path), *words) == 0
    found = capsys.readouterr().out
    assert ("unused" in found) == (reused and bool(said))
    assert not reused or said in found
    assert plans[0].strategy == ("random" if "--strategy" in words else DEFAULT)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show"], "stopped. Run it again"),
        (["kernel", "x.py"], "stopped. The measurements are stored; the same command continues"),
        (["op", "mm", "--shapes", "2x2"], "stopped. No choice was stored"),
        (["model", "true"], "stopped. The choices for the calls so far are stored"),
    ],
)
def test_a_command_that_is_interrupted_says_so(
    monkeypatch: pytest.MonkeyPatch,
    path: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    said: str,
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    path.touch()
    monkeypatch.setattr("dl_autotune.command.Database", stop)
    assert tune(words[0], "--database", str(path), *words[1:]) == 130
    assert f"dl tune: {said}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["show"],
        ["show", "3f2a"],
        ["report", "3f2a", "page.html"],
        ["apply", "3f2a", "k.cpp"],
        ["export", "3f2a", "t4.json"],
        ["forget", "3f2a"],
        ["export-wheel", "gpu"],
    ],
)
def test_readers_do_not_create_a_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    path = tmp_path / "below" / "none.sqlite"
    assert tune(*words, "--database", str(path)) == 2
    assert f"nothing was tuned yet: there is no {path}. Tune" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_there_is_nothing_to_show_before_tuning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "none.sqlite"
    monkeypatch.setenv("DL_TUNING_DATABASE", str(path))
    assert tune("show") == 0
    assert capsys.readouterr().out == f"nothing was tuned yet: there is no {path}\n"
    assert not path.exists()

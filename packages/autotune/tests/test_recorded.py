"""Recorded spaces: both formats, invalid configurations, and refused files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dl_autotune import SpaceError
from dl_autotune.spaces.recorded import read_recording

T4: dict[str, Any] = {
    "schema_version": "1.0.0",
    "results": [
        {"configuration": {"x": 16, "m": "a"}, "times": {"runtimes": [2.0, 4.0]},
         "invalidity": "correct"},
        {"configuration": {"x": 8, "m": "b"}, "times": {"runtimes": []}, "invalidity": "compile"},
        {"configuration": {"x": 8, "m": "a"}, "times": {"runtimes": [5.0]},
         "invalidity": "correct"},
    ],
}  # fmt: skip
CACHE: dict[str, Any] = {
    "tune_params_keys": ["x", "m"],
    "cache": {
        "16,a": {"x": 16, "m": "a", "time": 3.0, "times": [2.0, 4.0]},
        "8,b": {"x": 8, "m": "b", "time": "CompilationFailedConfig"},
        "8,a": {"x": 8, "m": "a", "time": 5.0},
    },
}


@pytest.mark.parametrize("document", [T4, CACHE], ids=["t4", "cache"])
def test_both_formats_say_the_same(document: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "gemm_T4.json.gz"
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    found = read_recording(path)
    assert found.name == "gemm"
    assert found.space.size == 3
    best, failed, other = (
        found.space.points_of([{"x": x, "m": m}])[0] for x, m in ((16, "a"), (8, "b"), (8, "a"))
    )
    assert found.milliseconds[[best, other]].tolist() == [3.0, 5.0]
    assert np.isnan(found.milliseconds[failed])
    assert found.best == 3.0
    assert found.runs[best] == (2.0, 4.0)
    assert [bool(reason) for reason in np.array(found.reasons)[[best, failed]]] == [False, True]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "cannot be read"),
        (b"[]", "not a JSON object"),
        (b"{}", "neither a T4 file"),
        (b'{"cache": {"k": {"x": 1} "l": {"x": 2}\n', "cannot be read"),
        (b'{"cache": {"k": {"x": 1},\n"l": {"x": \n"m": {"x": 2}', "cannot be read"),
        (b'{"cache": {}}', "without tune_params_keys"),
        (b'{"results": []}', "no configurations"),
        (b'{"results": [{"times": {}}]}', "result 0 does not follow the T4 schema"),
        (
            b'{"cache": {"k": {}}, "tune_params_keys": ["x"]}',
            "entry k does not follow the cache's schema",
        ),
        (
            b'{"results": [{"configuration": {"x": 1}, "times": {}, "invalidity": "compile"}]}',
            "no configuration was measured",
        ),
    ],
)
def test_a_file_that_is_not_a_recording_is_refused(
    content: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(SpaceError, match=message):
        read_recording(path)
    with pytest.raises(SpaceError, match=r"none\.json cannot be read"):
        read_recording(tmp_path / "none.json")


def t4_in(unit: str | None, runtime: float, timeunit: str | None = None) -> dict[str, Any]:
    measured = [{"name": "time", "value": runtime, "unit": unit}] if unit is not None else []
    result = {**T4["results"][0], "times": {"runtimes": [runtime]}, "measurements": measured}
    return {"metadata": {"timeunit": timeunit} if timeunit else {}, "results": [result]}


@pytest.mark.parametrize(
    ("document", "milliseconds"),
    [
        (t4_in("s", 0.002), 2.0),
        (t4_in("seconds", 0.002), 2.0),
        (t4_in("us", 2000.0), 2.0),
        (t4_in("\u00b5s", 2000.0), 2.0),
        (t4_in("ns", 2e6), 2.0),
        (t4_in("miliseconds", 2.0, "milliseconds"), 2.0),
        (t4_in(None, 2000.0, "microseconds"), 2.0),
        (t4_in("", 2.0), 2.0),
        (t4_in(None, 2.0), 2.0),
    ],
)
def test_times_are_read_in_the_unit_that_the_file_names(
    document: dict[str, Any], milliseconds: float, tmp_path: Path
) -> None:
    path = tmp_path / "t4.json"
    path.write_text(json.dumps(document))
    assert read_recording(path).best == pytest.approx(milliseconds, rel=1e-12)
    document["results"][0]["times"] = {}  # without single runs, the measurement counts
    path.write_text(json.dumps(document))
    if document["results"][0]["measurements"]:
        assert read_recording(path).best == pytest.approx(milliseconds, rel=1e-12)


def test_a_failed_configuration_may_have_the_name_of_its_error_as_time(tmp_path: Path) -> None:
    document = t4_in("ms", 2.0)
    failed = {
        "configuration": dict.fromkeys(document["results"][0]["configuration"], 0),
        "times": {"compilation": 3055.9},
        "invalidity": "runtime",
        "measurements": [{"name": "time", "value": "RuntimeFailedConfig", "unit": ""}],
    }
    path = tmp_path / "t4.json"
    path.write_text(json.dumps({**document, "results": [*document["results"], failed]}))
    recording = read_recording(path)
    assert sorted(recording.reasons) == ["", "runtime"]
    assert recording.best == 2.0


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (t4_in("cycles", 5.0), r"'cycles' is not a known unit of time; use one of s, ms, us, ns"),
        (t4_in("s", 5.0, "ms"), "timeunit is 'ms', but the measurement is in 's'"),
    ],
)
def test_unknown_and_contradicting_units_are_refused(
    document: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "t4.json"
    path.write_text(json.dumps(document))
    with pytest.raises(SpaceError, match=rf"{message}.*t4\.json, result 0"):
        read_recording(path)


@pytest.mark.parametrize("time", ["Infinity", "NaN", "0.0"])
def test_an_invalid_time_has_a_reason(time: str, tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    document = json.dumps(CACHE).replace('"time": 5.0', f'"time": {time}')
    path.write_text(document)
    found = read_recording(path)
    (point,) = found.space.points_of([{"x": 8, "m": "a"}])
    assert np.isnan(found.milliseconds[point])
    assert found.reasons[point] == "no finite, positive time was recorded"


LINES = [f"{json.dumps(key)}: {json.dumps(entry)}" for key, entry in CACHE["cache"].items()]


@pytest.mark.parametrize(
    "end",
    [
        ",\n".join(LINES),
        ",\n".join(LINES) + ",",
        ",\n".join(LINES) + "\n}",
        ",\n".join(LINES) + ',\n"4,b": {"x": 4, "m": "b", "ti',
        ",\n".join(LINES) + ',\n"4,',
        ",".join(LINES),
    ],
    ids=["no-comma", "comma", "one-brace", "within-an-entry", "within-a-key", "one-line"],
)
@pytest.mark.parametrize("opening", ['"cache": {\n', '"cache":{'])
def test_a_cache_of_a_stopped_run_is_read_to_its_last_entry(
    end: str, opening: str, tmp_path: Path
) -> None:
    path = tmp_path / "cache.json"
    path.write_text('{"tune_params_keys": ["x", "m"], ' + opening + end)
    before = path.read_bytes()
    found = read_recording(path)
    assert found.space.size == 3
    assert found.best == 3.0
    assert path.read_bytes() == before

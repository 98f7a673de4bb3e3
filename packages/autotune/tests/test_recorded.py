"""Recorded spaces: both formats, what is invalid, what is refused."""

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
        (b"[]", "no JSON object"),
        (b"{}", "neither a T4 file"),
        (b'{"cache": {}}', "without tune_params_keys"),
        (b'{"results": []}', "no configurations"),
        (b'{"results": [{"times": {}}]}', "result 0 is not as in T4"),
        (b'{"cache": {"k": {}}, "tune_params_keys": ["x"]}', "entry k is not as in a cache"),
        (
            b'{"results": [{"configuration": {"x": 1}, "times": {}, "invalidity": "compile"}]}',
            "no configuration was measured",
        ),
    ],
)
def test_what_is_no_recording_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(SpaceError, match=message):
        read_recording(path)
    with pytest.raises(SpaceError, match=r"none\.json cannot be read"):
        read_recording(tmp_path / "none.json")

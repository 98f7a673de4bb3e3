"""Code that an engine has compiled is used by later processes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from dl_dicp import statistics
from dl_dicp.engines.compiled_code import CompiledCode
from engine_wheel import SOURCE, installed

WITH_KEY = SOURCE.replace('version = "1.2"', 'version = "1.2"\n    cache_key = "numpy"')
BROKEN = WITH_KEY.replace("return json.dumps", "raise OSError('no compiler'); return json.dumps")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of compiled code in a cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "dl" / "graphs"


def run(path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    """Run a compiled function with the engine of a wheel, as a new process would."""
    path.mkdir()
    torch._dynamo.reset()
    statistics.reset()

    def function(x: Tensor, y: Tensor) -> Tensor:
        return x * y + x

    options = {"engine": "toy", "patterns": False}
    with monkeypatch.context() as patch, installed(path, patch, source=source):
        compiled = torch.compile(function, backend="dl", options=options)
        x, y = (torch.rand(4, 8, device="dl") for _ in range(2))
        for _ in range(3):
            assert torch.allclose(compiled(x, y), function(x, y), rtol=0, atol=1e-6)


def test_a_later_process_compiles_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "one", monkeypatch, WITH_KEY)
    assert len(list(folder.glob("*.bin"))) == 1 and statistics.engine_runs["toy"]
    run(tmp_path / "two", monkeypatch, BROKEN)
    assert statistics.engine_runs["toy"] and not statistics.dropped


def test_nothing_is_stored_without_a_key(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "one", monkeypatch, SOURCE)
    assert statistics.engine_runs["toy"] and not list(folder.glob("*"))


def test_a_damaged_file_is_compiled_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "one", monkeypatch, WITH_KEY)
    (path,) = folder.glob("*.bin")
    good = path.read_bytes()
    path.write_bytes(good[:-1] + b"?")
    run(tmp_path / "two", monkeypatch, WITH_KEY)
    assert path.read_bytes() == good and not statistics.dropped


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_code_that_fails_is_deleted(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = WITH_KEY.replace("np.multiply}", "np.subtract}")
    run(tmp_path / "one", monkeypatch, wrong)
    assert statistics.dropped and not list(folder.glob("*.bin"))


def test_a_folder_of_other_users_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Engine:
        version = "1"
        cache_key = "chip"
        compiled = 0

        def compile(self, graph: object) -> bytes:
            self.compiled += 1
            return b"code"

    engine = Engine()
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    for _ in range(2):
        assert CompiledCode("toy", engine, {"graph": 1}).get() == b"code"
    assert engine.compiled == 2 and not list(folder.iterdir())
    folder.chmod(0o700)
    for _ in range(2):
        assert CompiledCode("toy", engine, {"graph": 1}).get() == b"code"
    assert engine.compiled == 3
    engine.cache_key = "another chip"
    assert CompiledCode("toy", engine, {"graph": 1}).get() == b"code" and engine.compiled == 4

"""Libraries that crash, hang or are remembered, at `import torch`."""

from __future__ import annotations

from pathlib import Path

import pytest
from stub_wheels import Wheels
from test_autoload import report
from test_probe import TABLE, build

from dl_core.errors import ProbeError
from dl_core.torch_backend import trial

pytestmark = pytest.mark.usefixtures("dl_device")
GOOD = TABLE.replace("COUNT", "*n = 1")
CRASHING = "__attribute__((constructor)) static void go(void) { raise(SIGILL); }\n" + GOOD
HANGING = "__attribute__((constructor)) static void go(void) { for (;;) pause(); }\n" + GOOD
ABORTING = GOOD.replace("*out = &instance;", "abort();").replace(
    "static void destroy", "#include <stdlib.h>\nstatic void destroy"
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize(
    ("source", "signal"), [(CRASHING, "SIGILL"), (ABORTING, "SIGABRT")], ids=["load", "entry"]
)
def test_a_crash_is_told_and_not_remembered(tmp_path: Path, source: str, signal: str) -> None:
    descriptor = build(tmp_path, source)
    for _ in range(2):
        with pytest.raises(ProbeError, match=f"{signal} while being loaded"):
            trial.check(descriptor, 60)


def test_a_hang_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match="longer than 1 seconds"):
        trial.check(build(tmp_path, HANGING), 1)


def test_a_good_library_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dl_core import _C

    descriptor = build(tmp_path, GOOD)
    trial.check(descriptor, 60)
    monkeypatch.setattr(_C, "trial_load", lambda *_: "it was tried again")
    trial.check(descriptor, 60)
    changed = build(tmp_path, GOOD + "\nint changed;")
    with pytest.raises(ProbeError, match="tried again"):
        trial.check(changed, 60)


def test_an_unreadable_memory_is_done_without(tmp_path: Path, cache: Path) -> None:
    (cache / "dl").mkdir(parents=True)
    (cache / "dl" / "loadable.json").write_text("[1, 2")
    trial.check(build(tmp_path, GOOD), 60)


def test_a_user_without_a_home_can_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert trial.cache_file() is None
    trial.check(build(tmp_path, GOOD), 60)


@pytest.mark.parametrize("source", [CRASHING, HANGING], ids=["crashing", "hanging"])
def test_import_torch_survives_with_one_warning(
    wheels: Wheels, tmp_path: Path, source: str
) -> None:
    library = build(tmp_path, source).library
    wheels.add_vendor("dl-vendor-bad", name="bad", library=f"Path({str(library)!r})", priority="9")
    found = report(wheels, DL_PROBE_TIMEOUT="1")
    assert found["usable"]
    (warning,) = found["warnings"]
    assert "dl-vendor-bad" in warning
    assert ("SIGILL" in warning) == (source is CRASHING)
    assert "pip install --force-reinstall dl-vendor-bad" in warning

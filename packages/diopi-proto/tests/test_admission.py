"""Cache of trials: verdicts, and marks of processes that died while loading."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from diopi_proto import TrialUnavailableError, VendorLoadError, load_vendor
from diopi_proto.trial import admitted, identity, memory, run
from diopi_proto.trial.identity import identity_of

Compile = Callable[..., Path]

LOAD = """
import os, sys
from diopi_proto.trial import admitted
with admitted(sys.argv[1]) as untried:
    {inside}
"""


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The libraries for which this process runs a trial."""
    made: list[Path] = []
    real = run.try_library

    def counted(path: Path, **options: Any) -> Any:
        made.append(path)
        return real(path, **options)

    monkeypatch.setattr(run, "try_library", counted)
    return made


def load(library: Path) -> str:
    with admitted(library) as untried:
        return untried


def in_process(library: Path, inside: str) -> int:
    """Return the exit status of a process that loads the library and runs ``inside`` meanwhile."""
    command = [sys.executable, "-c", LOAD.format(inside=inside), str(library)]
    return subprocess.run(command, check=False).returncode


def find_cached(cache: Path, suffix: str) -> list[Path]:
    return sorted((cache / "dl" / "trials").glob(f"*{suffix}"))


def test_a_good_library_is_tried_once(library: Path, trials: list[Path], cache: Path) -> None:
    load(library)
    load(library)
    load_vendor(library, probe=True).close()
    assert trials == [library]
    (verdict,) = find_cached(cache, ".json")
    assert find_cached(cache, ".loading") == []
    assert stat.S_IMODE(verdict.parent.stat().st_mode) == 0o700


def test_a_verdict_is_there_for_other_processes(library: Path, trials: list[Path]) -> None:
    assert in_process(library, "pass") == 0
    load(library)
    assert trials == []


def test_a_crash_is_reported_every_time(build: Compile, trials: list[Path], cache: Path) -> None:
    library = build("behaves.c", "-DAT_COUNT=raise(SIGSEGV)", "-Wno-unused-function")
    for _ in range(2):
        with pytest.raises(VendorLoadError, match="SIGSEGV while being asked how many devices"):
            load(library)
    assert len(trials) == 2 and find_cached(cache, "") == []


def test_a_refusal_is_not_remembered(build: Compile, trials: list[Path], cache: Path) -> None:
    """A library that refuses an instance is safe to load, and its verdict is not cached."""
    library = build("broken.c", "-DFIXTURE_CASE=6", "-Wno-unused-variable")
    load(library)
    load(library)
    assert len(trials) == 2 and find_cached(cache, "") == []


def test_what_a_verdict_depends_on_is_part_of_it(
    library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def differs(before: str | None) -> str | None:
        after = identity_of(library, False)
        assert after != before
        return after

    known = identity_of(library, False)
    assert known == identity_of(library, False) and known != identity_of(library, True)
    status = library.stat()
    os.utime(library, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    known = differs(known)
    content = library.read_bytes()
    library.unlink()
    library.write_bytes(content)
    os.utime(library, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    known = differs(known)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nonexistent")
    known = differs(known)
    monkeypatch.setenv("SOME_DRIVER", str(tmp_path / "libdriver.so.1"))
    known = differs(known)
    (tmp_path / "libdriver.so.1").write_text("another")
    known = differs(known)
    monkeypatch.setenv("SOME_FILE", str(tmp_path))
    assert known == identity_of(library, False)
    monkeypatch.setattr(identity, "__version__", "9.9")
    known = differs(known)
    monkeypatch.setattr(identity, "_processor", lambda: {"flags": "fpu"})
    known = differs(known)
    monkeypatch.setattr(os, "uname", lambda: ("Linux", "host", "1", "1", "x"))
    known = differs(known)
    for name in ("_BOOT", "_DRIVERS"):
        file = tmp_path / name
        file.write_text("1")
        monkeypatch.setattr(identity, name, str(file) if name == "_BOOT" else (str(file),))
        known = differs(known)
        file.write_text("2")
        known = differs(known)
    assert identity_of(tmp_path / "nothing.so", False) is None


def test_a_library_that_came_since_is_tried(
    library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A library that was missing during the trial may be found now."""
    folder, empty = tmp_path / "lib", tmp_path / "empty"
    folder.mkdir()
    empty.mkdir()
    os.utime(folder, ns=(1, 1))
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{empty}:{folder}")
    known = identity_of(library, False)
    (folder / "libdriver.so.1").write_text("a driver")
    assert identity_of(library, False) != known
    monkeypatch.delenv("LD_LIBRARY_PATH")
    cache = tmp_path / "ld.so.cache"
    monkeypatch.setattr(identity, "_LOADER_CACHE", str(cache))
    known = identity_of(library, False)
    cache.write_text("a driver")
    assert identity_of(library, False) != known


def test_how_fast_the_processor_is_now_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "processor\t: 0\ncpu MHz\t\t: {}\nflags\t\t: fpu sse\nbogomips\t: {}\n"
    seen = []
    for speed in (1000, 3000):
        content = text.format(speed, speed)
        monkeypatch.setattr(identity, "_head", lambda path, size, content=content: content)
        seen.append(identity._processor())
    assert seen[0] == seen[1] == {"flags": "fpu sse"}


def test_a_changed_dependency_is_a_new_trial(
    library: Path, trials: list[Path], cache: Path, tmp_path: Path
) -> None:
    load(library)
    (verdict,) = find_cached(cache, ".json")
    driver = tmp_path / "libdriver.so.1"
    driver.write_text("1")
    files = json.loads(verdict.read_text())["files"]
    assert str(library) in [path for path, _ in files]
    files.append([str(driver), identity.file_identity(driver)])
    verdict.write_text(json.dumps({"files": files}))
    load(library)
    assert len(trials) == 1
    driver.write_text("22")
    load(library)
    assert len(trials) == 2


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[" * 200_000,
        "[" * 2_000_000,
        "null",
        '{"files": 3}',
        '{"files": [[1]]}',
        '{"files": [["x", 1]]}',
        '{"files": [[null, null]]}',
        "\xff\xfe",
        '{"files": [["a\\u0000b", [1]]]}',
    ],
    ids=range(10),
)
def test_a_verdict_that_makes_no_sense_is_a_new_trial(
    library: Path, trials: list[Path], cache: Path, content: str
) -> None:
    load(library)
    (verdict,) = find_cached(cache, ".json")
    verdict.write_bytes(content.encode("latin-1"))
    load(library)
    assert len(trials) == 2


@pytest.mark.parametrize("content", [b"", b"x", b"9" * 30, b"\0"])
def test_a_mark_that_makes_no_sense_does_no_harm(
    library: Path, trials: list[Path], cache: Path, content: bytes
) -> None:
    load(library)
    (verdict,) = find_cached(cache, ".json")
    verdict.with_suffix(".loading").write_bytes(content)
    if content == b"9" * 30:
        with pytest.raises(VendorLoadError, match="Remove"):
            load(library)
    else:
        load(library)
        assert find_cached(cache, ".loading") == []


def test_one_death_while_loading_is_a_new_trial_and_two_are_the_end(
    library: Path, trials: list[Path], cache: Path
) -> None:
    assert in_process(library, "os._exit(5)") == 5
    load(library)
    assert trials == [library], "the verdict of the dead one does not count"
    for _ in range(2):
        assert in_process(library, "os.kill(os.getpid(), 9)") == -9
    with pytest.raises(VendorLoadError, match="last 2 processes died while loading it") as caught:
        load(library)
    (mark,) = find_cached(cache, ".loading")
    assert str(mark) in str(caught.value)
    with pytest.raises(VendorLoadError, match="last 2 processes"):
        load(library)
    mark.unlink()
    load(library)


def test_a_success_forgives_a_death(library: Path, cache: Path) -> None:
    for _ in range(3):
        assert in_process(library, "os._exit(5)") == 5
        assert in_process(library, "pass") == 0
    assert find_cached(cache, ".loading") == []


@pytest.mark.parametrize(
    "error", ["raise KeyboardInterrupt", "raise SystemExit(3)", "raise OSError"]
)
def test_an_exception_is_no_death(library: Path, cache: Path, error: str) -> None:
    for _ in range(3):
        assert in_process(library, error) != 0
        assert find_cached(cache, ".loading") == []
    load(library)


def test_a_process_that_is_loading_just_now_is_not_dead(
    library: Path, trials: list[Path], cache: Path
) -> None:
    load(library)
    code = LOAD.format(inside="print(flush=True); sys.stdin.read()")
    command = [sys.executable, "-c", code, str(library)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        assert len(find_cached(cache, ".loading")) == 1
        for _ in range(3):
            load(library)
        process.stdin.close()
    assert process.returncode == 0 and trials == [library]
    load(library)
    assert find_cached(cache, ".loading") == [] and trials == [library]


def _no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.parametrize("kind", ["relative", "open", "a file", "no home", "odd home"])
def test_without_a_place_of_its_own_every_start_tries(
    library: Path,
    trials: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "place"
    if kind == "open":
        place.mkdir()
        place.chmod(0o777)
    elif kind == "a file":
        place.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    if kind == "no home":
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setattr(Path, "home", _no_home)
    if kind in ("odd home", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", "place" if kind == "relative" else "")
        monkeypatch.setenv("HOME", "relative")
    assert memory.cache_folder() is None
    load(library)
    load(library)
    assert len(trials) == 2
    left = [path for path in tmp_path.rglob("*") if path.suffix in (".json", ".loading")]
    assert left == []


def test_old_verdicts_are_forgotten(library: Path, cache: Path) -> None:
    folder = cache / "dl" / "trials"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "old.json").write_text("{}")
    os.utime(folder / "old.json", (1, 1))
    load(library)
    assert [path.name for path in find_cached(cache, ".json")] == [
        f"{identity_of(library, False)}.json"
    ]


def test_a_library_that_cannot_be_tried_is_loaded_and_reported(
    library: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def unavailable(*arguments: object, **options: object) -> None:
        raise TrialUnavailableError("there are no processes left")

    monkeypatch.setattr(run, "try_library", unavailable)
    assert load(library) == "there are no processes left"
    load_vendor(library, probe=True).close()
    assert "without a trial: there are no processes left" in caplog.text
    assert find_cached(cache, ".json") == []

"""Invalid environment variables, caches and signals: at most a warning, and the device works."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from core.processes import output

from diopi_proto.trial.memory import LoadingMark, Verdict

from .planted import command

pytestmark = pytest.mark.vendor("cpu")

IMPORT = """
import json, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import torch
assert torch.ones(2, device="dl").sum().item() == 2
print(json.dumps([str(w.message) for w in caught if str(w.message).startswith("dl-core")]))
"""


def warned(**variables: str) -> list[str]:
    """Return the warnings of `import torch`, in a process in which the device works."""
    found: list[str] = json.loads(output(IMPORT, **variables).splitlines()[-1])
    return found


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(.*)*x", "takes longer than 5 s"),
        ("(a|aa)+$", "matches no operator"),
        ("a{4294967296}", "repetition number is too large"),
        ("(" * 5000, "more than 500 characters"),
        ("(?<!x)add", "matches no operator"),
    ],
    ids=["hangs", "hangs too", "overflows", "is deep", "looks around"],
)
def test_a_pattern_neither_hangs_nor_costs_the_device(pattern: str, said: str) -> None:
    (text,) = warned(DL_FORCE_FALLBACK=pattern)
    assert said in text and "DL_FORCE_FALLBACK" in text and len(text) < 700


def test_text_that_is_none_is_one_warning_that_can_be_shown() -> None:
    value = os.fsdecode(b"\xff\n\x1b[2JProblems: none\xe2\x80\xae")
    names = ("DL_FALLBACK", "DL_VENDORS", "DL_DISABLE", "DL_PROBE_TIMEOUT")
    texts = warned(**dict.fromkeys(names, value))
    assert len(texts) == 4 and all(text.isprintable() for text in texts)
    assert all(any(name in text for text in texts) for name in names)
    done = subprocess.run(
        [command(), "doctor"],
        env={**os.environ, **dict.fromkeys(names, value), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 1 and "\x1b" not in done.stdout, done.stderr
    assert [x for x in lines if x.startswith("Problems:")] == ["Problems: 4"]


def test_very_long_values_are_not_repeated() -> None:
    names = ("DL_FALLBACK", "DL_DISABLE", "DL_FORCE_FALLBACK")
    texts = warned(**dict.fromkeys(names, "(" * 100_000))
    assert len(texts) == 3 and all(len(text) < 1000 for text in texts)


DAMAGES: dict[str, bytes] = {
    "deep": b"[" * 200_000,
    "deep, closed": b'{"files": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "binary": bytes(range(256)) * 100,
    "empty": b"",
    "another shape": b'{"files": {"a": 1}}',
    "numbers": b'{"files": [[7, 8], [-1, null], [true, []]]}',
    "a path that is none": b'{"files": [["/\\u0000", null], ["\\ud800", []]]}',
    "long": b"1" * (1 << 20),
}


def verdicts(cache: Path) -> list[Path]:
    return list((cache / "dl" / "trials").glob("*.json"))


def test_a_damaged_cache_is_made_anew(tmp_path: Path) -> None:
    assert warned(XDG_CACHE_HOME=str(tmp_path)) == []
    (file,) = verdicts(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(DAMAGES["deep"])
    assert warned(XDG_CACHE_HOME=str(tmp_path)) == []
    assert file.read_bytes() == whole
    file.unlink()
    # Reading a pipe without a writer would hang.
    os.mkfifo(file)
    assert warned(XDG_CACHE_HOME=str(tmp_path)) == []
    assert file.read_bytes() == whole


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_verdict_does_not_hold(tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(b'{"files": []}')
    assert Verdict(tmp_path, "x").holds()
    file.write_bytes(damage)
    assert not Verdict(tmp_path, "x").holds()


def test_what_is_no_mark_counts_no_deaths(tmp_path: Path) -> None:
    path = tmp_path / "x.loading"
    for make in (os.mkfifo, lambda path: path.write_bytes(b"nonsense")):
        make(path)
        mark = LoadingMark(tmp_path, "x")
        assert mark.deaths == 0
        mark.end()
        assert not path.exists()


def child(**options: Any) -> subprocess.CompletedProcess[str]:
    """Run a process with an unusual initial state, as set by a shell, a container or a service."""
    return subprocess.run(
        [sys.executable, "-c", IMPORT], capture_output=True, text=True, timeout=100, **options
    )


def test_signals_that_were_ignored_or_blocked_before_do_not_matter(tmp_path: Path) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    def block() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM, signal.SIGALRM})

    for number, prepare in enumerate((ignore, block)):
        # Without a cache: the library is tried in another process, which must be waited for.
        variables = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / str(number))}
        done = child(preexec_fn=prepare, env=variables)
        assert done.returncode == 0 and done.stdout.splitlines()[-1] == "[]", done.stderr
        assert verdicts(tmp_path / str(number))

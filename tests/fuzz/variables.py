"""Environment variables with arbitrary values: reading them never raises."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from diopi_proto.trial.memory import cache_folder
from diopi_proto.trust import why_untrusted
from dl_core import config, selection
from dl_core.import_path import without_current_folder
from dl_core.patterns import PatternError, match_names

from .kind import CANARY, Case, Kind, WrongError

_NAMES = ("add.Tensor", "mul_.Scalar", "convolution_backward.default", "a" * 60, "x")
_PATHS = ("XDG_CACHE_HOME", "HOME", "PYTHONPATH", "TMPDIR")
_PROCESSES = 0.004
"""Fraction of cases in which the whole command runs."""
_PIECES = (
    *("(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "\\", "^", "$", ".", "-", ",", ":", ";"),
    *("a", "add", "Tensor", "_", "0", "9", "cpu", "all", "warn", "nan", "inf", "1e9", "-1", "  "),
    *(
        "{4294967296}",
        "{1000}",
        "{,}",
        "(.*)*",
        "(?=a)",
        "(?P<n>",
        "\\1",
        "[^",
        "\n",
        "\t",
        "\x1b[2J",
    ),
    *(
        "\udcff",
        "\u202e",
        "é",
        "/",
        "..",
        "~",
        "$HOME",
        "%s",
        "{0}",
        "'",
        '"',
        "`touch $FUZZ_CANARY`",
    ),
    "$(touch $FUZZ_CANARY)",
)


def begin(folder: Path, own: Path) -> Case:
    def case(choose: random.Random) -> str:
        environ = {x.name: _text(choose) for x in config.VARIABLES if choose.random() < 0.6}
        aliases = [x.alias.name for x in config.VARIABLES if x.alias is not None]
        environ |= {name: _text(choose) for name in aliases if choose.random() < 0.2}
        read = config.read(environ)
        for problem in read.problems:
            if len(problem) > 4000:
                raise WrongError(f"a problem has {len(problem)} characters")
        found = _selected(choose, read)
        _paths(choose, own)
        if choose.random() < _PROCESSES:
            _doctor(environ, own)
        return f"{'problems' if read.problems else 'fine'}, {found}"

    return case


def _text(choose: random.Random) -> str:
    if choose.random() < 0.4:
        return ",".join(
            choose.choices(("cpu", "warn", "add.*", "mul_?", "30", "x-y"), k=choose.randrange(3))
        )
    if choose.random() < 0.05:
        return choose.choice(_PIECES) * choose.choice((50, 5_000, 20_000))
    return "".join(choose.choices(_PIECES, k=choose.randrange(1, 12)))


def _selected(choose: random.Random, read: config.Config) -> str:
    names = ("cpu", "all", "a", "add")
    candidates = [
        selection.Candidate(name, choose.randrange(-2, 3), choose.random() < 0.5) for name in names
    ]
    plan = selection.plan(candidates, read.vendors, None)
    selection.settle(plan, {name: choose.choice((0, 1, 64, 1000)) for name in names})
    try:
        return "matches" if match_names(read.force_fallback, _NAMES) else "matches nothing"
    except PatternError:
        return "takes too long"


def _paths(choose: random.Random, own: Path) -> None:
    path = _path(choose, own)
    why_untrusted(path)
    without_current_folder(
        [path, "", *path.split(":")], {"PYTHONPATH": path}, first_is_implied=True
    )
    before = os.environ["XDG_CACHE_HOME"]
    try:
        os.environ["XDG_CACHE_HOME"] = path
        cache_folder()
    finally:
        os.environ["XDG_CACHE_HOME"] = before


def _path(choose: random.Random, own: Path) -> str:
    start = choose.choice(("", "/", f"{own}/", "./", "//", "/proc/self/fd/0/", "/dev/null/"))
    path = start + _text(choose).replace("\0", "")[:5000]
    # Folders are created only below the child's own.
    return (
        path if not path.startswith("/") or path.startswith((f"{own}/", "/proc", "/dev")) else "/"
    )


def _doctor(environ: dict[str, str], own: Path) -> None:
    code = "import sys; from dl_core.cli import main; sys.exit(main(['doctor', '--json']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environ, CANARY: os.environ[CANARY]},
        cwd=own,
        capture_output=True,
        timeout=25,
    )
    if done.returncode not in (0, 1):
        raise WrongError(f"dl doctor: {done.returncode}, {done.stderr[-300:]!r}")
    json.loads(done.stdout)


KIND = Kind("variables", 5000, begin, batch=500)

"""Selection of names by regular expressions, with bounded time.

Python's ``re`` backtracks: matching an expression such as ``(.*)*x`` may take exponential time.
Simple expressions cannot, and are matched in this process. All others are matched in a child
process with a timeout.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from collections.abc import Iterable, Sequence

LONGEST = 500
"""Maximum length of an expression in characters."""
SECONDS = 5.0
"""Timeout for matching in a child process."""

_SIMPLE_REPEATS = 2
"""Maximum number of repeats of a simple expression, which has no groups: matching it takes at most
quadratic time."""
_REPEAT = re.compile(r"[*+?{]")
_CHILD = """
import json, re, sys
patterns, names = json.load(sys.stdin)
compiled = [re.compile(pattern) for pattern in patterns]
json.dump([name for name in names if any(each.fullmatch(name) for each in compiled)], sys.stdout)
"""


class PatternError(ValueError):
    """A text is not a regular expression, or matching it takes too long."""


def check_patterns(patterns: Iterable[str]) -> None:
    """Check that all patterns are regular expressions.

    :raises PatternError: one is not; the message names it, with the reason.
    """
    for pattern in patterns:
        _compile(pattern)


def match_names(patterns: Iterable[str], names: Iterable[str]) -> set[str]:
    """Return the names that at least one pattern matches as a whole.

    :raises PatternError: a pattern is not a regular expression, or matching takes too long.
    """
    candidates = set(names)
    simple: list[re.Pattern[str]] = []
    other: list[str] = []
    for pattern in patterns:
        compiled = _compile(pattern)
        if _is_simple(pattern):
            simple.append(compiled)
        else:
            other.append(pattern)
    found = {name for name in candidates if any(each.fullmatch(name) for each in simple)}
    rest = sorted(candidates - found)
    return found | _match_in_child(other, rest) if other and rest else found


def _compile(pattern: str) -> re.Pattern[str]:
    if len(pattern) > LONGEST:
        shown, reason = f"{pattern[:60]}…", f"it has more than {LONGEST} characters"
        raise PatternError(f"{shown!r} is not a regular expression: {reason}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        shown = pattern if len(pattern) <= 60 else f"{pattern[:60]}…"
        raise PatternError(f"{shown!r} is not a regular expression: {error}") from None


def _is_simple(pattern: str) -> bool:
    return "(" not in pattern and len(_REPEAT.findall(pattern)) <= _SIMPLE_REPEATS


def _match_in_child(patterns: Sequence[str], names: Sequence[str]) -> set[str]:
    command = [sys.executable, "-I", "-S", "-W", "ignore", "-c", _CHILD]
    shown = ", ".join(repr(pattern[:60]) for pattern in patterns[:3])
    try:
        done = subprocess.run(
            command,
            input=json.dumps([patterns, names]),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise PatternError(
            f"matching {shown} takes longer than {SECONDS:g} s; write names, or simpler expressions"
        ) from None
    except (OSError, subprocess.CalledProcessError) as error:
        raise PatternError(f"matching {shown} failed: {error}; write simpler expressions") from None
    return set(json.loads(done.stdout))

"""Settings from environment variables. docs/settings.md lists them.

Reading never raises: an invalid value becomes a sentence in :attr:`Config.problems`, and the
default is used. An empty value counts as unset.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

FALLBACK_MODES = ("allow", "warn", "error")
CARRIERS = ("auto", "gloo")
ACTIONS = ("warn", "raise")
EVERYTHING = ".*"
ALL = "all"
_LONGEST = 200
"""Maximum number of characters of a value that a problem quotes."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*\Z")


class _InvalidError(ValueError):
    """A value is invalid; the message names the invalid part."""


def split_list(text: str) -> tuple[str, ...]:
    """Return the non-empty parts of a comma-separated text."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _names(text: str) -> tuple[str, ...]:
    names = split_list(text.lower())
    for name in names:
        if not _NAME.match(name):
            raise _InvalidError(f"{name[:_LONGEST]!r} is not a name")
    if not names:
        raise _InvalidError("it contains no name")
    return tuple(dict.fromkeys(names))


def _patterns(text: str) -> tuple[str, ...]:
    from dl_core.patterns import PatternError, check_patterns  # rarely needed at startup

    patterns = split_list(text)
    try:
        check_patterns(patterns)
    except PatternError as error:
        raise _InvalidError(str(error)) from None
    return patterns


def _mode(text: str) -> str:
    if text.strip().lower() not in FALLBACK_MODES:
        raise _InvalidError("no such mode")
    return text.strip().lower()


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise _InvalidError("not a number") from None
    if not 0 < seconds <= 3600:
        raise _InvalidError("out of range")
    return seconds


def _flag(text: str) -> bool:
    value = text.strip().lower()
    if value in ("1", "true", "on", "yes"):
        return True
    if value in ("0", "false", "off", "no"):
        return False
    raise _InvalidError("neither true nor false")


def _patterns_of_library(text: str) -> tuple[str, ...]:
    """Translate DIPU's choice of an operator library: without one, all operators run on the
    CPU."""
    choice = text.strip().upper()
    if choice not in ("DISABLE", "INTERNAL"):
        raise _InvalidError("the library is the vendor's; DL_VENDORS selects a vendor")
    return (EVERYTHING,) if choice == "DISABLE" else ()


def _mode_of_flag(text: str) -> str:
    """Translate DeepLink's flag, which enables messages about fallbacks, to one of our three
    modes."""
    return "warn" if _flag(text) else "allow"


class Alias(NamedTuple):
    """An equivalent variable of DeepLink's DIPU. Our own variable takes precedence if
    both are set."""

    name: str
    allowed: str
    parse: Callable[[str], Any]


class Variable(NamedTuple):
    """An environment variable and the parser of its text."""

    name: str
    field: str
    allowed: str
    parse: Callable[[str], Any]
    alias: Alias | None = None
    others: tuple[Alias, ...] = ()
    """Additional DIPU names of the variable."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variable's own name, then its aliases: the first that is set decides."""
        aliases = (self.alias, *self.others)
        return (self.name, *(alias.name for alias in aliases if alias is not None))


def _parse_watched(text: str) -> tuple[str, ...]:
    try:
        return (EVERYTHING,) if _flag(text) else ()
    except _InvalidError:
        return _patterns(text)


def _choice_of(choices: tuple[str, ...]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.strip().lower() not in choices:
            raise _InvalidError("no such choice")
        return text.strip().lower()

    return parse


def _level_up_to(highest: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if text.strip() not in map(str, range(highest + 1)):
            raise _InvalidError("no such level")
        return int(text)

    return parse


_PATTERNS_ALLOWED = "regular expressions for operator names, separated by commas"
_WATCHED_ALLOWED = f"0, 1, or {_PATTERNS_ALLOWED}"

VARIABLES = (
    Variable("DL_VENDORS", "vendors", "vendor names, separated by commas", _names),
    Variable("DL_DISABLE", "disable", f"plugin names, separated by commas, or {ALL!r}", _names),
    Variable(
        "DL_FALLBACK",
        "fallback",
        ", ".join(FALLBACK_MODES),
        _mode,
        Alias("DIPU_LOG_FALLBACK_INFO", "0, 1", _mode_of_flag),
    ),
    Variable(
        "DL_FORCE_FALLBACK",
        "force_fallback",
        _PATTERNS_ALLOWED,
        _patterns,
        Alias("DIPU_FORCE_FALLBACK_OPS_LIST", _PATTERNS_ALLOWED, _patterns),
        (
            Alias("DL_FORCE_FALLBACK_OPS_LIST", _PATTERNS_ALLOWED, _patterns),
            Alias("DIPU_WITH_DIOPI_LIBRARY", "DISABLE, INTERNAL", _patterns_of_library),
        ),
    ),
    Variable("DL_DISTRIBUTED", "distributed", ", ".join(CARRIERS), _choice_of(CARRIERS)),
    Variable(
        "DL_KEEP_TORCHOP_DEFAULT_IMPL_OPS",
        "keep_default",
        _PATTERNS_ALLOWED,
        _patterns,
        Alias("DIPU_KEEP_TORCHOP_DEFAULT_IMPL_OPS", _PATTERNS_ALLOWED, _patterns),
    ),
    Variable(
        "DL_AUTOCOMPARE",
        "autocompare",
        _WATCHED_ALLOWED,
        _parse_watched,
        Alias("DIPU_AUTOCOMPARE_OPS_LIST", _WATCHED_ALLOWED, _parse_watched),
    ),
    Variable(
        "DL_AUTOCOMPARE_ACTION", "autocompare_action", ", ".join(ACTIONS), _choice_of(ACTIONS)
    ),
    Variable("DL_AUTOCOMPARE_LEVEL", "autocompare_level", "0, 1", _level_up_to(1)),
    Variable(
        "DL_DUMP_OP_ARGS",
        "dump_op_args",
        "0, 1, 2, 3",
        _level_up_to(3),
        Alias("DIPU_DUMP_OP_ARGS", "0, 1, 2, 3", _level_up_to(3)),
    ),
    Variable(
        "DL_MEM_CHECK",
        "memory_check",
        "0, 1, 2",
        _level_up_to(2),
        Alias("DIPU_MEM_CHECK", "0, 1, 2", _level_up_to(2)),
    ),
    Variable("DL_MOCK_CUDA", "mock_cuda", "0, 1", _flag, Alias("DIPU_MOCK_CUDA", "0, 1", _flag)),
    Variable(
        "DL_MEM_CHECK_ENABLE_BACKTRACE",
        "memory_check_stacks",
        "0, 1",
        _flag,
        Alias("DIPU_MEM_CHECK_ENABLE_BACKTRACE", "0, 1", _flag),
    ),
    Variable("DL_TUNING", "tuning", "on, off", _flag),
    Variable("DL_OPERATORS", "operators", "on, off", _flag),
    Variable("DL_PROBE_TIMEOUT", "probe_timeout", "seconds, above 0 and up to 3600", _seconds),
)


class Config(NamedTuple):
    """Settings of this process."""

    vendors: tuple[str, ...] | None = None
    """``DL_VENDORS``: vendors to make visible, in this order. None: the default rule."""
    disable: tuple[str, ...] = ()
    """``DL_DISABLE``: plugins that are never imported."""
    fallback: str = "allow"
    """``DL_FALLBACK``: action when an operator runs on the CPU instead."""
    force_fallback: tuple[str, ...] = ()
    """``DL_FORCE_FALLBACK``: operators that always run on the CPU."""
    distributed: str = "auto"
    """``DL_DISTRIBUTED``: transport of collectives; ``auto`` prefers the vendor's."""
    mock_cuda: bool | None = None
    """``DL_MOCK_CUDA``: run CUDA programs on dl. None: only if the program imports a module that
    does so by default."""
    memory_check: int = 0
    """``DL_MEM_CHECK``: check memory when it is freed (1), or after every operator (2)."""
    memory_check_stacks: bool = False
    """``DL_MEM_CHECK_ENABLE_BACKTRACE``: record the stacks of allocations and frees."""
    keep_default: tuple[str, ...] = ()
    """``DL_KEEP_TORCHOP_DEFAULT_IMPL_OPS``: operators that run torch's own decomposition."""
    autocompare: tuple[str, ...] = ()
    """``DL_AUTOCOMPARE``: operators whose results are compared with the CPU's."""
    autocompare_action: str = "warn"
    """``DL_AUTOCOMPARE_ACTION``: action for a wrong result."""
    autocompare_level: int = 0
    """``DL_AUTOCOMPARE_LEVEL``: write a line for each compared call (1). DIPU's variable for the
    operators implies it."""
    dump_op_args: int = 0
    """``DL_DUMP_OP_ARGS``: level of detail for logging operator calls."""
    tuning: bool = True
    """``DL_TUNING``: use measured choices of implementations."""
    operators: bool = True
    """``DL_OPERATORS``: call operators that other wheels add to a vendor's."""
    probe_timeout: float = 30.0
    """``DL_PROBE_TIMEOUT``: timeout in seconds for one vendor library, and for one call of a
    plugin."""
    sources: Mapping[str, str] = MappingProxyType({})
    """Variables that are set, with their text."""
    problems: tuple[str, ...] = ()
    """One sentence for each invalid value."""


def read(environ: Mapping[str, str]) -> Config:
    """Read all settings from ``environ``. Never raises; see :attr:`Config.problems`."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    problems: list[str] = []
    for variable in VARIABLES:
        name, allowed, parse = variable.name, variable.allowed, variable.parse
        text = environ.get(name, "")
        for alias in (variable.alias, *variable.others):
            if not text.strip() and alias is not None:
                name, allowed, parse = alias
                text = environ.get(name, "")
        if not text.strip():
            continue
        sources[name] = text
        try:
            values[variable.field] = parse(text)
        except _InvalidError as error:
            shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
            problems.append(f"{name}={shown!r} is ignored: {error}. Allowed: {allowed}.")
    if "DIPU_AUTOCOMPARE_OPS_LIST" in sources:
        values.setdefault("autocompare_level", 1)
    return Config(**values, sources=sources, problems=tuple(problems))

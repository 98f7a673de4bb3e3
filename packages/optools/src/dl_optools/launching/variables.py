"""Environment variables of the tools, and detection of misspelled ones. Imports no torch."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping

from dl_optools.launching.launch import TOOL_NAMES

TOOLS = (*(x.variable for x in TOOL_NAMES), "PROBE")
"""Names of the tools in their variables."""
_LISTS = [f"OP_{tool}_{end}" for tool in TOOLS for end in ("LIST", "DISABLE_LIST")]
KNOWN = (
    *_LISTS,
    *(f"OP_{tool}_EVERY" for tool in ("TIME_MEASURE", "OBSERVE", "PROBE")),
    *(f"OP_{tool}_BUDGET" for tool in ("TIME_MEASURE", "OBSERVE", "AUTOCOMPARE")),
    "OP_PROBE_INSIDE",
    "OP_TIME_MEASURE_TRACE",
    *(f"OP_CAPTURE_{end}" for end in ("MEMORY", "DISK", "WHEN_FULL")),
    "OP_DTYPE_CAST_DICT",
    "OP_TOOLS_PRINT_STACK",
    "OP_TOOLS_MAX_CACHE_SIZE",
    "AUTOCOMPARE_EVERY",
    "AUTOCOMPARE_BUNDLES",
)
_TOLERANCE, _CASTS = "AUTOCOMPARE_ERROR_TOLERANCE", "OP_DTYPE_CAST_DICT"
_OF_OPERATORS = re.compile(
    rf"(?:(\w+)_)??(?:{_TOLERANCE}(?:_(?:FLOAT16|BFLOAT16|FLOAT32|FLOAT64))?|{_CASTS})"
)
_DTYPES = tuple(f"{_TOLERANCE}_{x}" for x in ("FLOAT16", "BFLOAT16", "FLOAT32", "FLOAT64"))
_CLOSE = 0.75
"""Similarity of the words that differ in a misspelled name: other programs have variables with the
prefix ``OP_``, and some end like ours."""


def explain_misspelling(name: str) -> str:
    """Return why no tool reads a variable that looks like a tool's; empty for other variables."""
    if not name.startswith(("OP_", "AUTOCOMPARE_")):
        return ""
    return "" if _is_read(name) else _explain(name)


def describe_unread(
    environ: Mapping[str, str], operators: Callable[[], Collection[str]]
) -> list[str]:
    """Return a sentence for each set variable that is probably a misspelled variable of a tool.

    :param operators: returns the names of operators in variables, such as ``LINEAR``; called only
        if there is such a variable.
    """
    given = sorted(name for name, text in environ.items() if text.strip())
    return list(filter(None, (_problem(name, operators) for name in given)))


def _problem(name: str, operators: Callable[[], Collection[str]]) -> str:
    of_operator = _OF_OPERATORS.fullmatch(name)
    if of_operator is not None:
        operator = of_operator[1]
        if operator is None or operator in (known := operators()):
            return ""
        # Others may be operators that torch does not list.
        near = difflib.get_close_matches(operator, known, 1)
        right = "".join(near) + name.removeprefix(operator)
        return f"{name} is of no operator; did you mean {right}?" if near else ""
    if _is_read(name):
        return ""
    if _TOLERANCE in name or _CASTS in name:
        return _explain(name, start=max(name.find(_TOLERANCE), name.find(_CASTS)))
    if not name.startswith(("OP_", "AUTOCOMPARE_")):
        return ""
    near = difflib.get_close_matches(name, (*KNOWN, _TOLERANCE, *_DTYPES), 1)
    return _explain(name) if near and _is_misspelling(name, near[0]) else ""


def _is_misspelling(name: str, known: str) -> bool:
    words, others = name.split("_"), known.split("_")
    while words and others and words[0] == others[0]:
        del words[0], others[0]
    while words and others and words[-1] == others[-1]:
        del words[-1], others[-1]
    ratio = difflib.SequenceMatcher(None, "_".join(words), "_".join(others)).ratio()
    return ratio >= _CLOSE


def _is_read(name: str) -> bool:
    return name in KNOWN or _OF_OPERATORS.fullmatch(name) is not None


def _explain(name: str, *, start: int = 0) -> str:
    """Return a sentence with the closest name.

    :param start: position at which the tool's part begins, after the name of an operator.
    """
    near = difflib.get_close_matches(name[start:], (*KNOWN, _TOLERANCE, *_DTYPES), 1)
    return f"no tool reads {name}" + (f"; did you mean {name[:start]}{near[0]}?" if near else "")

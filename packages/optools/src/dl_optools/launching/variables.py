"""Environment variables of the tools, and detection of misspelled ones. Imports no torch."""

from __future__ import annotations

import difflib
import re

from dl_optools.launching.launch import TOOL_NAMES

_TOOLS = [x.variable for x in TOOL_NAMES]
_LISTS = [f"OP_{tool}_{end}" for tool in (*_TOOLS, "PROBE") for end in ("LIST", "DISABLE_LIST")]
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
_OF_OPERATORS = re.compile(
    r"(\w+_)?AUTOCOMPARE_ERROR_TOLERANCE(_(FLOAT16|BFLOAT16|FLOAT32|FLOAT64))?|\w+_OP_DTYPE_CAST_DICT"
)


def explain_misspelling(name: str) -> str:
    """Return why no tool reads a variable that looks like a tool's; empty for other variables."""
    if not name.startswith(("OP_", "AUTOCOMPARE_")):
        return ""
    if name in KNOWN or _OF_OPERATORS.fullmatch(name):
        return ""
    near = difflib.get_close_matches(name, KNOWN, 1)
    return f"no tool reads {name}" + (f"; did you mean {near[0]}?" if near else "")

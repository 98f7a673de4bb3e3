"""Promises of a plugin: the dtypes in which its operators have to pass, by operator."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from diopi_proto.schema import DTYPES, load

from .checks.check import SUBJECT
from .near import format_suggestions, near_operators
from .target import TargetError


def check_promises(profile: str, promised: Mapping[str, tuple[str, ...]]) -> None:
    """Check the names in a profile: a misspelled name would promise nothing.

    :raises TargetError: an operator or a dtype is unknown.
    """
    for operator, dtypes in promised.items():
        if operator != SUBJECT and operator not in load():
            near = format_suggestions(near_operators(operator))
            raise TargetError(f"--profile {profile}: {operator} is not an operator{near}")
        for dtype in dtypes:
            if dtype not in DTYPES:
                near = format_suggestions(get_close_matches(dtype, DTYPES))
                raise TargetError(f"--profile {profile}: {operator}: {dtype} is not a dtype{near}")

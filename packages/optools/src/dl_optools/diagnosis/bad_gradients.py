"""Judgement of gradients that are nan or inf, although each operator in them is right.

A formula such as 1 / (x * x + y * y) overflows where its value is representable. If torch's CPU
also gives nan or inf in the same dtype, torch's formula is the cause and no operator is blamed;
otherwise the device uses a different formula, which is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from dl_optools.launching.launch import LEVEL_VARIABLE, exact_patterns
from dl_optools.launching.reports import Report

MOST = 6
"""Number of functions whose gradients are compared."""


def find_sources(reports: Sequence[Report]) -> list[str]:
    """Return the functions whose gradients were nan or inf for finite values.

    :param reports: reports of the overflow check.
    """
    names = dict.fromkeys(name for x in reports for name in x.found["gradients"])
    return list(names)[:MOST]


def variables_for(names: Sequence[str]) -> dict[str, str]:
    """Return the variables with which the comparison judges the gradients of these functions."""
    return {
        LEVEL_VARIABLE: "api",
        "OP_AUTOCOMPARE_LIST": exact_patterns(names),
        "AUTOCOMPARE_EVERY": "1",
        "OP_AUTOCOMPARE_BUDGET": "off",
    }


def wrong_gradients(reports: Sequence[Report]) -> dict[str, str]:
    """Return the evidence for each function whose gradient is wrong, and finite on the CPU.

    :param reports: reports of the comparison at the level of Python functions.
    """
    return {
        name: evidence
        for x in reports
        for name, evidence in x.found["failures"].items()
        if ", backward)" in evidence.partition("\n")[0]
    }


def describe_sources(names: Sequence[str]) -> str:
    """Return a clause about gradients for which no operator is blamed."""
    return (
        f"the gradient of {' and '.join(names)} is nan or inf for finite values, as on torch's "
        "CPU: its formula overflows or underflows, here or in a value before it, or it has a "
        "singularity there"
    )

"""Search spaces from DeepGen's JSON files for matrix products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from diopi_proto.foreign_file import DOCUMENT_BYTES, read_regular_json

from ..errors import SpaceError
from .constraint import Constraint
from .parameter import Config
from .space import SearchSpace

PROBLEM = ("BATCH_SIZE", "M_SIZE", "N_SIZE", "K_SIZE")
"""Keys of the file that define the problem, not the implementation."""
KEYS = (
    *("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "THREAD_SIZE_M", "THREAD_SIZE_N"),
    *("WARP_SIZE", "BLOCK_LAYOUT_Y", "BLOCK_LAYOUT_X", "WARP_LAYOUT_Y", "WARP_LAYOUT_X"),
    *("GLOB_LOAD_WIDTH_A", "GLOB_LOAD_WIDTH_B", "BLOCK_SCATTER_WIDTH_M"),
    *("BLOCK_SCATTER_WIDTH_N", "WARP_SCATTER_WIDTH_M", "WARP_SCATTER_WIDTH_N"),
    *("LOCAL_SPLIT_U", "BLOCK_MAPPING", "GLOB_STORE_WIDTH", "UNROLL_NUM", "REG_PREFETCH"),
    *("SHARED_PREFETCH", "LOAD_CONTINUOUS", "STORE_CONTINUOUS", "IS_ATRANS"),
    *PROBLEM,
    *("DATATYPE_A", "DATATYPE_B", "DATATYPE_C"),
)
_OLDER_NAMES: Mapping[str, str] = {
    "BLOCK_LAYOUT_M": "BLOCK_LAYOUT_Y",
    "BLOCK_LAYOUT_N": "BLOCK_LAYOUT_X",
    "WARP_LAYOUT_M": "WARP_LAYOUT_Y",
    "WARP_LAYOUT_N": "WARP_LAYOUT_X",
    "WARP_SCATTER_WIDTH_A": "BLOCK_SCATTER_WIDTH_M",
    "WARP_SCATTER_WIDTH_B": "BLOCK_SCATTER_WIDTH_N",
    "THREAD_SCATTER_WIDTH_A": "WARP_SCATTER_WIDTH_M",
    "THREAD_SCATTER_WIDTH_B": "WARP_SCATTER_WIDTH_N",
    "REDUCE_C_CONTINUOUS": "STORE_CONTINUOUS",
}
"""Older key names of DeepGen, which many of its configurations still use."""
_FLOAT32 = 4
_THREADS = "BLOCK_LAYOUT_Y * BLOCK_LAYOUT_X * WARP_SIZE * LOCAL_SPLIT_U"
RULES: Mapping[str, str] = {
    "BLOCK_SIZE_M == THREAD_SIZE_M * BLOCK_LAYOUT_Y * WARP_LAYOUT_Y": (
        "threads cover a block's rows"
    ),
    "BLOCK_SIZE_N == THREAD_SIZE_N * BLOCK_LAYOUT_X * WARP_LAYOUT_X": (
        "threads cover a block's columns"
    ),
    "WARP_LAYOUT_Y * WARP_LAYOUT_X == WARP_SIZE": "a warp's layout has as many threads as the warp",
    "M_SIZE % BLOCK_SIZE_M == 0": "blocks cover the rows of the result",
    "N_SIZE % BLOCK_SIZE_N == 0": "blocks cover the columns of the result",
    "K_SIZE % BLOCK_SIZE_K == 0": "blocks cover the terms of the sums",
    "max(BLOCK_SIZE_M, BLOCK_SIZE_N) <= 2 * min(BLOCK_SIZE_M, BLOCK_SIZE_N)": (
        "a block is a square or half of one"
    ),
    f"{_THREADS} <= 256": "a block has no more threads",
    f"BLOCK_SIZE_M * BLOCK_SIZE_K % ({_THREADS} * GLOB_LOAD_WIDTH_A) == 0": (
        "each thread loads an equal part of A in whole vector loads"
    ),
    f"BLOCK_SIZE_N * BLOCK_SIZE_K % ({_THREADS} * GLOB_LOAD_WIDTH_B) == 0": (
        "each thread loads an equal part of B in whole vector loads"
    ),
    "THREAD_SIZE_M % BLOCK_SCATTER_WIDTH_M == 0": "a thread's rows are whole groups",
    "THREAD_SIZE_N % BLOCK_SCATTER_WIDTH_N == 0": "a thread's columns are whole groups",
    "BLOCK_SCATTER_WIDTH_M % WARP_SCATTER_WIDTH_M == 0": "groups of rows are whole subgroups",
    "BLOCK_SCATTER_WIDTH_N % WARP_SCATTER_WIDTH_N == 0": "groups of columns are whole subgroups",
    "GLOB_STORE_WIDTH == 0 or THREAD_SIZE_N % GLOB_STORE_WIDTH == 0": "stores are whole",
    "BLOCK_SIZE_K % LOCAL_SPLIT_U == 0": "the parts of a split sum have equal lengths",
    "UNROLL_NUM <= BLOCK_SIZE_K": "at most all steps are unrolled",
    "4 * (BLOCK_SIZE_M + BLOCK_SIZE_N) * BLOCK_SIZE_K * (1 + SHARED_PREFETCH) <= 65536": (
        "64 KiB of shared memory"
    ),
    "THREAD_SIZE_M * THREAD_SIZE_N + (THREAD_SIZE_M + THREAD_SIZE_N) * (1 + REG_PREFETCH) <= 256": (
        "256 registers of a thread"
    ),
}
"""Rules that every configuration must satisfy, each with its description."""
_CONSTRAINTS = tuple(map(Constraint.of, RULES))


def read_deepgen(path: Path) -> SearchSpace:
    """Return the configurations of a file that satisfy the rules.

    The problem is also in the file, and is part of each configuration: ``M_SIZE``, ``N_SIZE``,
    ``K_SIZE`` and ``BATCH_SIZE`` are parameters, usually with one value.

    :raises SpaceError: the file cannot be read, has a duplicate or unknown key or lacks one, has a
    value that is not a list of integers or a dtype other than float32, or no configuration
    satisfies the rules; the message names the file.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise SpaceError(
                    f"[space] {path}: key {key} occurs twice, as {found[key]!r} and {value!r}: "
                    "keep one"
                )
            found[key] = value
        return found

    try:
        document = read_regular_json(path, DOCUMENT_BYTES, object_pairs_hook=once)
    except SpaceError:
        raise
    except (OSError, ValueError) as error:
        raise SpaceError(f"[space] {path} cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise SpaceError(f"[space] {path} is not a JSON object of lists")
    try:
        return gemm_space(document)
    except SpaceError as error:
        raise SpaceError(f"{error} ({path})") from error


def with_current_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values under DeepGen's current keys; files without a batch size have the size 1.

    :raises SpaceError: a key is given under both of its names; the message has both.
    """
    for older, current in _OLDER_NAMES.items():
        if older in values and current in values:
            raise SpaceError(f"[space] {older} is the older name of {current}: give one of the two")
    renamed = {_OLDER_NAMES.get(key, key): value for key, value in values.items()}
    if renamed.keys() != values.keys():
        renamed.setdefault("BATCH_SIZE", [1])
    return renamed


def gemm_space(values: Mapping[str, Sequence[int]]) -> SearchSpace:
    """Return the configurations of these values that satisfy the rules.

    :raises SpaceError: as :func:`read_deepgen`.
    """
    if "Br" in values and "BLOCK_SIZE_M" not in values:
        raise SpaceError("[space] attention is not supported, only matrix products")
    values = with_current_names(values)
    for what, keys in (
        ("lacks", [key for key in KEYS if key not in values]),
        ("has unknown keys:", [key for key in values if key not in KEYS]),
    ):
        if keys:
            raise SpaceError(f"[space] the configuration {what} {', '.join(keys)}")
    for key, listed in values.items():
        if not isinstance(listed, list | tuple) or not listed or not all(map(_integer, listed)):
            raise SpaceError(f"[space] {key} is {listed!r}: give a list of integers >= 0")
        if key.startswith("DATATYPE") and set(listed) != {_FLOAT32}:
            raise SpaceError(f"[space] {key} is {listed!r}: must be [{_FLOAT32}], float32")
        if 0 in listed and not key.startswith(_MAY_BE_NONE):
            raise SpaceError(f"[space] {key} is {listed!r}: 0 is not a valid size")
    return SearchSpace(
        {key: values[key] for key in KEYS},
        _CONSTRAINTS,
        resources={
            "registers": lambda THREAD_SIZE_M, THREAD_SIZE_N: (  # noqa: N803
                THREAD_SIZE_M * THREAD_SIZE_N + THREAD_SIZE_M + THREAD_SIZE_N
            ),
            "shared_bytes": lambda BLOCK_SIZE_M, BLOCK_SIZE_N, BLOCK_SIZE_K: (  # noqa: N803
                4 * BLOCK_SIZE_K * (BLOCK_SIZE_M + BLOCK_SIZE_N)
            ),
        },
    )


_MAY_BE_NONE = ("BLOCK_MAPPING", "GLOB_STORE", "REG", "SHARED", "LOAD_C", "STORE_C", "IS", "UNROLL")


def _integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def broken_rules(config: Config) -> list[str]:
    """Return the rules that a configuration breaks, in words."""
    return [
        f"{rule.text} ({RULES[rule.text]})"
        for rule in _CONSTRAINTS
        if not rule.function(*(config[name] for name in rule.names))
    ]

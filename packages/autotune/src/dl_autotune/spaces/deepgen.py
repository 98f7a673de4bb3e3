"""Search spaces from the JSON files that DeepGen tunes products of matrices by."""

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
"""Keys of the file that say what is computed, not how."""
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
"""Keys of DeepGen's earlier files, by which many of its configurations are still written."""
_FLOAT32 = 4
_THREADS = "BLOCK_LAYOUT_Y * BLOCK_LAYOUT_X * WARP_SIZE * LOCAL_SPLIT_U"
RULES: Mapping[str, str] = {
    "BLOCK_SIZE_M == THREAD_SIZE_M * BLOCK_LAYOUT_Y * WARP_LAYOUT_Y": (
        "threads cover a block's rows"
    ),
    "BLOCK_SIZE_N == THREAD_SIZE_N * BLOCK_LAYOUT_X * WARP_LAYOUT_X": (
        "threads cover a block's columns"
    ),
    "WARP_LAYOUT_Y * WARP_LAYOUT_X == WARP_SIZE": "a warp's threads are its layout",
    "M_SIZE % BLOCK_SIZE_M == 0": "blocks cover the rows of the result",
    "N_SIZE % BLOCK_SIZE_N == 0": "blocks cover the columns of the result",
    "K_SIZE % BLOCK_SIZE_K == 0": "blocks cover the terms of the sums",
    "max(BLOCK_SIZE_M, BLOCK_SIZE_N) <= 2 * min(BLOCK_SIZE_M, BLOCK_SIZE_N)": (
        "a block is square, or half of a square"
    ),
    f"{_THREADS} <= 256": "a block has no more threads",
    f"BLOCK_SIZE_M * BLOCK_SIZE_K % ({_THREADS} * GLOB_LOAD_WIDTH_A) == 0": (
        "each thread loads as much of A, in whole loads"
    ),
    f"BLOCK_SIZE_N * BLOCK_SIZE_K % ({_THREADS} * GLOB_LOAD_WIDTH_B) == 0": (
        "each thread loads as much of B, in whole loads"
    ),
    "THREAD_SIZE_M % BLOCK_SCATTER_WIDTH_M == 0": "a thread's rows are whole groups",
    "THREAD_SIZE_N % BLOCK_SCATTER_WIDTH_N == 0": "a thread's columns are whole groups",
    "BLOCK_SCATTER_WIDTH_M % WARP_SCATTER_WIDTH_M == 0": "groups of rows are whole subgroups",
    "BLOCK_SCATTER_WIDTH_N % WARP_SCATTER_WIDTH_N == 0": "groups of columns are whole subgroups",
    "GLOB_STORE_WIDTH == 0 or THREAD_SIZE_N % GLOB_STORE_WIDTH == 0": "stores are whole",
    "BLOCK_SIZE_K % LOCAL_SPLIT_U == 0": "the parts of a split sum are of one length",
    "UNROLL_NUM <= BLOCK_SIZE_K": "no more steps are unrolled than there are",
    "4 * (BLOCK_SIZE_M + BLOCK_SIZE_N) * BLOCK_SIZE_K * (1 + SHARED_PREFETCH) <= 65536": (
        "64 KiB of shared memory"
    ),
    "THREAD_SIZE_M * THREAD_SIZE_N + (THREAD_SIZE_M + THREAD_SIZE_N) * (1 + REG_PREFETCH) <= 256": (
        "256 registers of a thread"
    ),
}
"""Rules that every configuration satisfies, each with its reason."""
_CONSTRAINTS = tuple(map(Constraint.of, RULES))


def read_deepgen(path: Path) -> SearchSpace:
    """The configurations of a file that the rules leave.

    The problem, which the file has too, is part of each: ``M_SIZE``, ``N_SIZE``, ``K_SIZE`` and
    ``BATCH_SIZE`` are parameters, mostly of one value.

    :raises SpaceError: it cannot be read, has a key twice or one that is not known, lacks one, a
        value is not a list of integers, it is of another dtype than float32, or the rules leave
        nothing; names the file.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise SpaceError(
                    f"[space] {path}: key {key} is there twice, as {found[key]!r} and {value!r}:"
                    " keep one"
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
    """Return the values under DeepGen's current keys; files without a batch have one of 1.

    :raises SpaceError: a key is given under both of its names; names both.
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
        raise SpaceError("[space] these are parameters of attention; only products are tuned")
    values = with_current_names(values)
    for what, keys in (
        ("lacks", [key for key in KEYS if key not in values]),
        ("has keys that are not known:", [key for key in values if key not in KEYS]),
    ):
        if keys:
            raise SpaceError(f"[space] the configuration {what} {', '.join(keys)}")
    for key, listed in values.items():
        if not isinstance(listed, list | tuple) or not listed or not all(map(_integer, listed)):
            raise SpaceError(f"[space] {key} is {listed!r}: give a list of integers of 0 or more")
        if key.startswith("DATATYPE") and set(listed) != {_FLOAT32}:
            raise SpaceError(f"[space] {key} is {listed!r}: only [{_FLOAT32}], float32, is known")
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

"""DeepGen's files as search spaces: valid files, the effect of the rules, and refused files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dl_autotune import SpaceError
from dl_autotune.spaces.deepgen import KEYS, RULES, broken_rules, gemm_space, read_deepgen

VALID: dict[str, int] = dict.fromkeys(KEYS, 1) | dict(
    M_SIZE=64,
    N_SIZE=64,
    K_SIZE=32,
    WARP_SIZE=8,
    BLOCK_SIZE_M=32,
    BLOCK_SIZE_N=32,
    BLOCK_SIZE_K=8,
    THREAD_SIZE_M=8,
    THREAD_SIZE_N=8,
    BLOCK_LAYOUT_Y=2,
    WARP_LAYOUT_Y=2,
    WARP_LAYOUT_X=4,
    DATATYPE_A=4,
    DATATYPE_B=4,
    DATATYPE_C=4,
)


def listed(**values: list[Any]) -> dict[str, Any]:
    return {**{key: [value] for key, value in VALID.items()}, **values}


def test_a_file_is_a_space(tmp_path: Path) -> None:
    path = tmp_path / "gemm.json"
    path.write_text(json.dumps(listed(UNROLL_NUM=[1, 4, 16], BLOCK_SIZE_K=[8, 16])))
    space = read_deepgen(path)
    # A block of 8 cannot be unrolled 16 times.
    assert space.size == 5
    assert space.point(VALID) is not None


def test_each_rule_leaves_something_out() -> None:
    breaking: list[dict[str, int]] = [
        {"THREAD_SIZE_M": 4},
        {"THREAD_SIZE_N": 4},
        {"WARP_SIZE": 4},
        {"M_SIZE": 48},
        {"N_SIZE": 48},
        {"K_SIZE": 12},
        {"BLOCK_SIZE_M": 8},
        {"LOCAL_SPLIT_U": 32},
        {"GLOB_LOAD_WIDTH_A": 32},
        {"GLOB_LOAD_WIDTH_B": 32},
        {"BLOCK_SCATTER_WIDTH_M": 3},
        {"BLOCK_SCATTER_WIDTH_N": 3},
        {"WARP_SCATTER_WIDTH_M": 2},
        {"WARP_SCATTER_WIDTH_N": 2},
        {"GLOB_STORE_WIDTH": 3},
        {"LOCAL_SPLIT_U": 3},
        {"UNROLL_NUM": 9},
        {"BLOCK_SIZE_K": 1024},
        {"THREAD_SIZE_M": 64},
    ]
    assert broken_rules(VALID) == []
    for (rule, why), change in zip(RULES.items(), breaking, strict=True):
        assert f"{rule} ({why})" in broken_rules({**VALID, **change})
        with pytest.raises(SpaceError, match="no "):
            gemm_space({key: [value] for key, value in {**VALID, **change}.items()})


OLDER = {
    "BLOCK_LAYOUT_Y": "BLOCK_LAYOUT_M",
    "BLOCK_LAYOUT_X": "BLOCK_LAYOUT_N",
    "WARP_LAYOUT_Y": "WARP_LAYOUT_M",
    "WARP_LAYOUT_X": "WARP_LAYOUT_N",
    "BLOCK_SCATTER_WIDTH_M": "WARP_SCATTER_WIDTH_A",
    "BLOCK_SCATTER_WIDTH_N": "WARP_SCATTER_WIDTH_B",
    "WARP_SCATTER_WIDTH_M": "THREAD_SCATTER_WIDTH_A",
    "WARP_SCATTER_WIDTH_N": "THREAD_SCATTER_WIDTH_B",
    "STORE_CONTINUOUS": "REDUCE_C_CONTINUOUS",
}


def test_files_with_the_older_names_are_the_same_space(tmp_path: Path) -> None:
    values = listed(WARP_LAYOUT_Y=[2, 4], WARP_LAYOUT_X=[4, 2], BLOCK_SCATTER_WIDTH_M=[2])
    older = {OLDER.get(key, key): value for key, value in values.items() if key != "BATCH_SIZE"}
    path = tmp_path / "gemm.json"
    path.write_text(json.dumps(older))
    assert list(read_deepgen(path).configs()) == list(gemm_space(values).configs())
    path.write_text(json.dumps({**older, "WARP_LAYOUT_X": [4]}))
    message = "WARP_LAYOUT_N is the older name of WARP_LAYOUT_X: give one of the two"
    with pytest.raises(SpaceError, match=message):
        read_deepgen(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"M_SIZE": [64], "M_SIZE": [32]}', r"M_SIZE occurs twice, as \[64\] and \[32\]: keep"),
        ("{", "cannot be read"),
        ("[]", "is not a JSON object"),
        ('{"Br": [32]}', "attention is not supported"),
        ('{"M_SIZE": [64]}', "lacks BLOCK_SIZE_M, "),
        (json.dumps(listed(COLOUR=[1])), "unknown keys: COLOUR"),
        (json.dumps(listed(M_SIZE=64)), "M_SIZE is 64: give a list"),  # type: ignore[arg-type]
        (json.dumps(listed(M_SIZE=[True])), "give a list of integers"),
        (json.dumps(listed(M_SIZE=[])), "give a list of integers"),
        (json.dumps(listed(M_SIZE=[0])), "0 is not a valid size"),
        (json.dumps(listed(M_SIZE=[64, 64])), "64 is given twice"),
        (json.dumps(listed(DATATYPE_B=[2])), "DATATYPE_B.*float32"),
    ],
)
def test_errors_name_the_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "gemm.json"
    path.write_text(text)
    with pytest.raises(SpaceError, match=message) as refused:
        read_deepgen(path)
    assert str(path) in str(refused.value)

"""Counts of a program's processes: their sum, their order, and files that are damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dl_core.program_counts import candidates, others, read_counts


def reason(
    overload: str, cause: str, operator: str, count: int, nanoseconds: int
) -> dict[str, Any]:
    text = f"{operator} {cause}"
    named = {"overload": overload, "cause": cause, "operator": operator, "text": text}
    return {**named, "total_count": count, "total_nanoseconds": nanoseconds, "count": 0}


def write(folder: Path, name: str, native: int, *reasons: dict[str, Any]) -> None:
    text = json.dumps({"native": native, "composed": 0, "reasons": reasons})
    (folder / f"{name}.json").write_text(text)


def test_processes_are_added_up_and_ranked_by_time(tmp_path: Path) -> None:
    write(
        tmp_path,
        "a",
        10,
        reason("mul.Tensor", "declined", "diopiMul", 2, 500),
        reason("sin.out", "absent", "diopiSin", 90, 400),
        reason("linalg_eig", "no_operator", "", 1, 9000),
        reason("erf", "unfit", "diopiErf", 1, 100),
    )
    write(
        tmp_path,
        "b",
        5,
        reason("mul.Tensor", "declined", "diopiMul", 1, 100),
        reason("mul_.Tensor", "declined", "diopiMul", 1, 700),
        reason("cos.out", "mismatched", "diopiCos", 0, 0),
    )
    found = read_counts(tmp_path)
    assert (found.native, found.on_cpu, found.nanoseconds) == (15, 96, 10800)
    assert (found.processes, found.lost) == (2, 0)
    ranked = candidates(found.fallbacks)
    assert [(x.operator, x.count, x.nanoseconds) for x in ranked] == [
        ("diopiMul", 4, 1300),
        ("diopiSin", 90, 400),
    ]
    assert ranked[0].overloads == ("mul_.Tensor", "mul.Tensor")
    assert ranked[0].reasons == ("diopiMul declined",)
    assert [x.overload for x in others(found.fallbacks)] == ["linalg_eig", "erf"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"native": "many", "reasons": []}',
        b'{"native": 1}',
        b'{"native": 1, "reasons": [{}]}',
        b'{"native": 1, "reasons": 7}',
        b"[" * 100_000,
        json.dumps(
            {"native": 1, "reasons": [reason("x", "absent", "y", 1, 1) | {"text": 3}]}
        ).encode(),
    ],
)
def test_a_damaged_file_is_a_process_without_counts(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, "whole", 3)
    (tmp_path / "damaged.json").write_bytes(content)
    found = read_counts(tmp_path)
    assert (found.native, found.processes, found.lost, found.fallbacks) == (3, 1, 1, [])


def test_a_folder_that_is_gone_has_no_processes(tmp_path: Path) -> None:
    assert read_counts(tmp_path / "gone").processes == 0

"""Forged recorded steps: names with terminal escapes, fields of other types, missing files."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from dl_optools.commands.one_iter import ONE_ITER
from dl_optools.one_iter.folder import FORMAT, OneIterError, Reader, Record, _hash

SEQUENCE = "\x1b]0;owned\x07\x1b[2J"
TENSOR = torch.arange(3.0)
NAME = _hash(TENSOR)


def forged(folder: Path, change: Callable[[dict[str, Any]], object] = lambda _: None) -> Path:
    """A step of one operator, whose index is changed."""
    rank = folder / "rank0"
    rank.mkdir(parents=True)
    save_file({NAME: TENSOR}, rank / "tensors-00000.safetensors")
    record = {"kind": "operator", "name": "aten.exp.default", "outputs": {"0": NAME}}
    document = {
        "format": FORMAT,
        "device": "cpu",
        "tensors": {NAME: {"shard": 0, "dtype": "float32"}},
        "records": [{**vars(Record("operator", "")), **record}],
    }
    change(document)
    (rank / "index.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def command(*words: object) -> int:
    parser = argparse.ArgumentParser()
    ONE_ITER.configure(parser)
    return ONE_ITER.run(parser.parse_args([str(word) for word in words]))


def test_names_do_not_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def change(document: dict[str, Any]) -> None:
        document.update(device=SEQUENCE, broken_by=SEQUENCE)
        document["records"][0].update(name=SEQUENCE, module=SEQUENCE)

    trusted, tested = forged(tmp_path / "a"), forged(tmp_path / "b", change)
    assert command("show", tested) == 0
    assert command("compare", trusted, tested) == 1
    assert command("compare", tested, trusted, "--all") == 1
    assert command("show", tmp_path / SEQUENCE) == 2
    seen = capsys.readouterr()
    assert not any(c in seen.out + seen.err for c in "\x1b\x07")
    assert r"\x1b]0;owned\x07" in seen.out


FIELDS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a name that is a list": lambda d: d["records"][0].update(name=["a"]),
    "a call that is a text": lambda d: d["records"][0].update(call="1"),
    "outputs that are a list": lambda d: d["records"][0].update(outputs=[NAME]),
    "an output that is a number": lambda d: d["records"][0].update(outputs={"0": 3}),
    "a replay that is a text": lambda d: d["records"][0].update(replay="rm"),
    "an unknown field": lambda d: d["records"][0].update(other=1),
    "a record that is a text": lambda d: d.update(records=["a"]),
    "no records": lambda d: d.pop("records"),
    "tensors that are a list": lambda d: d.update(tensors=[]),
    "an unknown dtype": lambda d: d["tensors"][NAME].update(dtype="cuda"),
    "a shard beyond all numbers": lambda d: d["tensors"][NAME].update(shard=float("inf")),
    "another shard": lambda d: d["tensors"][NAME].update(shard=7),
}


@pytest.mark.parametrize("kind", FIELDS)
def test_a_forged_index_is_refused_with_a_sentence(kind: str, tmp_path: Path) -> None:
    with pytest.raises(OneIterError, match=r"is damaged|is missing"):
        Reader(forged(tmp_path, FIELDS[kind]) / "rank0")


def test_tensors_in_a_fifo_are_refused_without_waiting(tmp_path: Path) -> None:
    file = forged(tmp_path) / "rank0" / "tensors-00000.safetensors"
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(OneIterError, match="it is a FIFO, not a regular file"):
        Reader(file.parent)

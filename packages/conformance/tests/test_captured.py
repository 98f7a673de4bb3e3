"""Case files of captured calls are read, run, and refused if invalid."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diopi_proto.schema import load
from dl_conformance.captured import (
    KEY,
    Captured,
    CaseFileError,
    Placed,
    Written,
    read_cases,
    write_cases,
)
from dl_conformance.case import T
from dl_conformance.catalog import cases_of
from dl_conformance.command import main
from dl_conformance.execution import run

RANDOM = np.random.default_rng(3)


def placed(elements: Any, dtype: str = "", strides: tuple[int, ...] | None = None) -> Placed:
    array = np.asarray(elements)
    dense = tuple(step // array.itemsize for step in array.strides)
    return Placed(dtype or array.dtype.name, array, dense if strides is None else strides)


def added(**changed: Any) -> Captured:
    rows = RANDOM.standard_normal((3, 4)).astype(np.float32)
    arguments = {"input": placed(rows), "other": placed(rows[:1]), "alpha": 2, **changed}
    out = Written("float32", (3, 4), (1, 3))
    return Captured("diopiAdd", arguments, {"out": out}, "aten.add.Tensor, captured on here")


def forged(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Rewrite the header of the file."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + length :])
    return path


def described(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """Return a function that changes the first case in a file."""

    def changed(header: dict[str, Any]) -> None:
        content = json.loads(header["__metadata__"][KEY])
        change(content["cases"][0])
        header["__metadata__"][KEY] = json.dumps(content)

    return changed


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "case.safetensors"
    write_cases(path, [added()])
    return path


def test_a_case_has_the_elements_and_strides_of_the_call(tmp_path: Path) -> None:
    path = tmp_path / "case.safetensors"
    column = RANDOM.standard_normal((3, 4)).astype(np.float16)
    bits = np.array([[0x8000, 0x7FC1, 1, 0x3F80]], np.uint16)
    write_cases(
        path,
        [
            added(input=Placed("float32", column.astype(np.float32), (1, 3), 5)),
            added(other=placed(np.broadcast_to(np.float32(2), (3, 4)), strides=(0, 0))),
            Captured("diopiNeg", {"input": placed(bits, "bfloat16")}, {}, "here"),
            Captured(
                "diopiCat",
                {"tensors": [placed(column), placed(np.empty((0, 4), np.float16))], "dim": 0},
                {},
                "here",
            ),
            Captured("diopiAddScalar", {**added().arguments, "other": -math.inf}, {}, "here"),
        ],
    )
    first, expanded, negated, joined, scalar = read_cases(path)
    given = first.arguments["input"]
    assert isinstance(given, T) and given.stored is not None
    assert given.stored.tobytes() == column.astype(np.float32).tobytes()
    assert (given.strides, given.offset) == ((1, 3), 5)
    assert first.arguments["out"].strides == (1, 3)
    assert first.arguments["alpha"] == 2
    assert first.name.startswith("diopiAdd[float32-captured-3x4-1x4-alpha=2-")
    assert expanded.arguments["other"].strides == (0, 0)
    assert negated.dtype == "bfloat16"
    assert negated.arguments["input"].stored.tobytes() == bits.tobytes()
    assert [x.sizes for x in joined.arguments["tensors"]] == [(3, 4), (0, 4)]
    assert scalar.arguments["other"] == -math.inf


def test_equal_calls_are_one_case_and_others_have_other_names(tmp_path: Path) -> None:
    path = tmp_path / "case.safetensors"
    one, other = added(), added(alpha=3)
    write_cases(path, [one, one, other, added()])
    assert len({case.name for case in read_cases(path)}) == 3


def test_safetensors_reads_what_is_written(file: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    found = safetensors.load_file(file)
    assert [x.shape for x in found.values()] == [(3, 4), (1, 4)]


MISTAKES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "operator": (described(lambda x: x.update(operator="diopiAdt")), "not an operator"),
    "keys": (described(lambda x: x.update(more=1)), "the keys must be operator"),
    "argument missing": (
        described(lambda x: x["arguments"].pop("alpha")),
        "missing or unknown: alpha",
    ),
    "argument too much": (
        described(lambda x: x["arguments"].update(beta=1)),
        "missing or unknown: beta",
    ),
    "absent": (described(lambda x: x["arguments"].update(input=None)), "input is absent"),
    "number": (described(lambda x: x["arguments"].update(alpha="2")), "alpha is '2'"),
    "large number": (described(lambda x: x["arguments"].update(alpha=1 << 70)), "alpha is"),
    "no tensor": (described(lambda x: x["arguments"].update(input=3)), "not a tensor"),
    "unknown tensor": (
        described(lambda x: x["arguments"]["input"].update(tensor="9")),
        "not in the file",
    ),
    "strides": (
        described(lambda x: x["arguments"]["input"].update(strides=[1])),
        "invalid strides",
    ),
    "negative strides": (
        described(lambda x: x["arguments"]["input"].update(strides=[-4, 1])),
        "invalid strides",
    ),
    "negative offset": (
        described(lambda x: x["arguments"]["input"].update(offset=-1)),
        "invalid strides",
    ),
    "far strides": (
        described(lambda x: x["arguments"]["input"].update(strides=[1 << 40, 1])),
        "tensors span",
    ),
    "far offset": (
        described(lambda x: x["arguments"]["input"].update(offset=1 << 60)),
        "tensors span",
    ),
    "shared memory": (
        described(lambda x: x["arguments"]["input"].update(strides=[1, 1])),
        "share memory but are not equal",
    ),
    "output": (described(lambda x: x["outputs"].update(values=None)), "the outputs must be"),
    "output shape": (
        described(lambda x: x["outputs"]["out"].update(shape=[3, -4])),
        "a dtype and shape of the contract",
    ),
    "output strides": (
        described(lambda x: x["outputs"]["out"].update(strides=[0, 1])),
        "share memory",
    ),
    "large output": (
        described(lambda x: x["outputs"]["out"].update(shape=[1 << 31, 8], strides=[8, 1])),
        "tensors span",
    ),
    "large output without elements": (
        described(lambda x: x["outputs"]["out"].update(shape=[0, 1 << 61], strides=[1, 1])),
        "tensors span",
    ),
    "large strides without elements": (
        described(lambda x: x["outputs"]["out"].update(shape=[0, 4], strides=[1 << 61, 1])),
        "tensors span",
    ),
    "interleaved output": (
        described(lambda x: x["outputs"]["out"].update(shape=[2, 3], strides=[2, 2])),
        "share memory",
    ),
    "output interleaved far": (
        described(lambda x: x["outputs"]["out"].update(shape=[1 << 13, 3], strides=[9999, 9998])),
        "which interleave over 81921806 positions",
    ),
    "dtype": (lambda x: x["0"].update(dtype="F8_E5M2"), "; known: "),
    "shape": (lambda x: x["0"].update(shape=[3, 5]), "its data_offsets are"),
    "large shape": (lambda x: x["0"].update(shape=[1 << 61, 1 << 61]), "its data_offsets are"),
    "large empty shape": (
        lambda x: x["0"].update(shape=[0, 1 << 61], data_offsets=[0, 0]),
        "which is too large",
    ),
    "place": (lambda x: x["0"].update(data_offsets=[0, 1 << 40]), "its data_offsets are"),
    "overlap": (lambda x: x["1"].update(data_offsets=[32, 48]), "its data_offsets are"),
    "hole": (lambda x: x.pop("1"), "the file has"),
    "bool bytes": (lambda x: x["1"].update(dtype="BOOL", shape=[16]), "neither 0 nor 1"),
    "no cases": (lambda x: x.pop("__metadata__"), "no cases"),
    "format": (
        lambda x: x["__metadata__"].update({KEY: '{"format": 2, "cases": []}'}),
        "format 1",
    ),
    "json": (lambda x: x["__metadata__"].update({KEY: "["}), "not valid JSON"),
    "deep json": (lambda x: x["__metadata__"].update({KEY: "[" * 100000}), "not valid JSON"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake: str, file: Path) -> None:
    change, said = MISTAKES[mistake]
    forged(file, change)
    with pytest.raises(CaseFileError, match=r"case\.safetensors: ") as raised:
        read_cases(file)
    assert said in str(raised.value)


def test_an_operator_without_a_reference_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dl_conformance.captured.find", lambda name: None)
    with pytest.raises(CaseFileError, match="has no reference in this suite"):
        read_cases(file)


def test_dtypes_that_the_contract_does_not_know_are_named(tmp_path: Path) -> None:
    path = tmp_path / "case.safetensors"
    weight = {"input": placed(np.float32([[1]])), "mat2": placed(np.float64([[1]]))}
    write_cases(path, [Captured("diopiMm", weight, {}, "here")])
    with pytest.raises(CaseFileError, match="mat2 has dtype float64, but it must be float32"):
        read_cases(path)


@pytest.mark.parametrize("kept", [0, 7, 8, 100, -1])
def test_a_file_that_is_truncated_is_refused(file: Path, kept: int) -> None:
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(CaseFileError):
        read_cases(file)


def test_every_flipped_byte_is_refused_or_read(file: Path) -> None:
    whole = file.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    for at in range(8 + length):
        content = bytearray(whole)
        content[at] ^= 1 << at % 8
        file.write_bytes(content)
        try:
            read_cases(file)
        except CaseFileError:
            continue


def test_a_captured_call_runs_together_with_the_suite(
    file: Path, compile_c: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    negated = np.float32([[1, -2, 3]])
    write_cases(file, [Captured("diopiNeg", {"input": placed(negated, strides=(7, 2))})])
    assert main(["--cases", str(file), "--fname", "diopiNeg", "--list"]) == 0
    names = capsys.readouterr().out.splitlines()
    assert len(names) == len(cases_of("diopiNeg")) + 1
    assert "captured" in names[-1]
    bare = compile_c(Path(__file__).with_name("bare.c"))
    options = ["--library", str(bare), "--jobs", "1", "--cases", str(file)]
    assert main([*options, "-k", "captured"]) == 0
    assert "1 cases of 1 operators" in capsys.readouterr().out
    assert main([*options, "--only-dtype", "float32", "--fname", "diopiNeg"]) == 0
    of_float32 = [x for x in cases_of("diopiNeg") if x.dtype == "float32"]
    assert f"{len(of_float32) + 1} cases of 1 operators" in capsys.readouterr().out


def test_an_input_may_share_memory_where_it_is_equal(tmp_path: Path) -> None:
    path = tmp_path / "case.safetensors"
    rows = np.broadcast_to(np.float32([[1, 2, 3, 4]]), (3, 4))
    slid = np.lib.stride_tricks.sliding_window_view(np.arange(6, dtype=np.float32), 4)
    for shared in (placed(rows, strides=(0, 1)), placed(slid, strides=(1, 1))):
        write_cases(path, [added(input=shared)])
        assert read_cases(path)[0].arguments["input"].strides == shared.strides
    unequal = placed(RANDOM.standard_normal((3, 4)).astype(np.float32), strides=(0, 1))
    write_cases(path, [added(input=unequal)])
    with pytest.raises(CaseFileError, match="share memory but are not equal"):
        read_cases(path)


class Untouched:
    """A vendor that implements every operator but must not be called."""

    operators = dict.fromkeys(load(), True)


def test_an_output_with_the_wrong_shape_is_named(tmp_path: Path) -> None:
    path = tmp_path / "case.safetensors"
    call = added()
    out = {"out": Written("float32", (4, 3), (3, 1))}
    write_cases(path, [Captured(call.operator, call.arguments, out, "here")])
    outcome = run(Untouched(), read_cases(path)[0])  # type: ignore[arg-type]
    assert (outcome.status, outcome.cause) == ("failed", "invalid call")
    assert "out: the call has the shape (4, 3), but the operator writes (3, 4)" in outcome.detail


def test_shapes_that_do_not_fit_are_named(file: Path) -> None:
    wrong = added(other=placed(np.ones((5, 7), np.float32)))
    write_cases(file, [wrong])
    (case,) = read_cases(file)
    outcome = run(Untouched(), case)  # type: ignore[arg-type]
    assert outcome.status == "failed"
    assert outcome.cause == "invalid call"
    assert "do not fit together" in outcome.detail
    assert "captured: aten.add.Tensor, captured on here" in outcome.detail


def test_a_missing_file_is_an_error_of_the_command(
    tmp_path: Path, compile_c: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    bare = compile_c(Path(__file__).with_name("bare.c"))
    assert main(["--library", str(bare), "--cases", str(tmp_path / "none")]) == 2
    assert "no such file" in capsys.readouterr().err

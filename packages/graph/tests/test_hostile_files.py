"""Graph files and inputs that would exhaust memory, block, or do not contain numbers."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diopi_proto.dtypes import DTYPES, to_storage
from dl_graph import load, read, read_inputs
from dl_graph.__main__ import main
from dl_graph.conversion import convert_array
from dl_graph.errors import GraphError
from graph_models import mlp

GRAPH = mlp().build()
HUGE = 6 << 30


def peak_memory(code: str, *arguments: str) -> int:
    """Return the peak resident memory in bytes of a process that runs this code."""
    measured = (
        f"{code}\nimport resource\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", measured, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return 1024 * int(done.stdout.splitlines()[-1])


OPEN = """
import sys
from dl_graph.errors import GraphError
from dl_graph import load
try:
    load(sys.argv[1])
except GraphError as error:
    assert "bytes after the tensors" in str(error), error
else:
    raise SystemExit("it was not refused")
"""


def test_a_file_with_a_huge_tail_is_refused_from_its_header(tmp_path: Path) -> None:
    path = tmp_path / "tail.dlg"
    path.write_bytes(GRAPH.content)
    os.truncate(path, HUGE)
    assert peak_memory(OPEN, str(path)) < 1 << 30


@pytest.mark.parametrize("kind", ["fifo", "device", "folder"])
def test_a_graph_that_is_not_a_regular_file_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "model.dlg"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    with pytest.raises(OSError, match=r"model\.dlg: it is .*not a regular file"):
        load(path)
    with pytest.raises(OSError, match=r"model\.dlg: it is .*not a regular file"):
        read_inputs(path)


def test_a_loaded_graph_is_the_file(tmp_path: Path) -> None:
    path = tmp_path / "model.dlg"
    GRAPH.save(path)
    loaded = load(path)
    assert loaded.content == path.read_bytes() == GRAPH.content
    assert loaded.nbytes == path.stat().st_size
    loaded.save(path)
    assert load(path).document == GRAPH.document


def test_a_graph_stays_as_it_was_verified_when_its_header_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "model.dlg"
    GRAPH.save(path)
    loaded = load(path)
    length = int.from_bytes(GRAPH.content[:8], "little")
    with path.open("r+b") as file:
        file.write(b"\xff" * (8 + length))
    assert loaded.content[: 8 + length] == GRAPH.content[: 8 + length]
    assert loaded.document == GRAPH.document


@pytest.mark.parametrize("length", [0, 3, 8, 9, 4096])
def test_a_file_that_is_cut_off_is_refused(length: int, tmp_path: Path) -> None:
    path = tmp_path / "cut.dlg"
    path.write_bytes(GRAPH.content[: min(length, len(GRAPH.content) - 1)])
    with pytest.raises(GraphError, match=r"cut\.dlg: "):
        load(path)


def npy(shape: tuple[int, ...], dtype: Any, data: bytes) -> bytes:
    """Return an array file with an arbitrary header."""
    file = io.BytesIO()
    described = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False}
    np.lib.format.write_array_header_1_0(file, {**described, "shape": shape})
    return file.getvalue() + data


def npz(path: Path, method: int = zipfile.ZIP_STORED, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def test_a_declared_shape_is_compared_with_what_the_file_holds(tmp_path: Path) -> None:
    path = npz(tmp_path / "in.npz", x=npy((1 << 40, 8), "f4", b"\0" * 64))
    with pytest.raises(ValueError, match=r"array 'x': its header declares 35,184,372,088,832 byt"):
        read_inputs(path)


def test_a_header_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    content = b"\x93NUMPY\x02\x00" + (4 << 30).to_bytes(8, "little")[:4] + b"\xff" * 100
    content = b"\x93NUMPY\x02\x00" + (0xF0000000).to_bytes(4, "little") + content
    with pytest.raises(ValueError, match="its header has 4,026,531,840 bytes"):
        read_inputs(npz(tmp_path / "in.npz", x=content))


def bomb(path: Path, size: int) -> Path:
    """Write a small archive whose only array decompresses to many bytes."""
    return npz(path, zipfile.ZIP_DEFLATED, x=npy((size // 4,), "f4", b"\0" * size))


def test_an_array_that_no_input_can_be_is_not_decompressed(tmp_path: Path) -> None:
    path = bomb(tmp_path / "in.npz", 64 << 20)
    assert path.stat().st_size < 1 << 20
    with pytest.raises(ValueError, match=r"its shape is \[16777216\], but the input has \[batch ≤"):
        read_inputs(path, GRAPH.entry("forward"))


def test_arrays_may_not_take_more_memory_than_allowed(tmp_path: Path) -> None:
    path = bomb(tmp_path / "in.npz", 1 << 20)
    with pytest.raises(ValueError, match="take 1,048,704 bytes, but the limit is 1,000,000"):
        read_inputs(path, limit=1_000_000)
    assert read_inputs(path, limit=2_000_000)["x"].nbytes == 1 << 20


def test_an_array_of_another_name_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = npz(tmp_path / "in.npz", weights=npy((2,), "f4", b"\0" * 8))
    with pytest.raises(ValueError, match="array 'weights': unknown input; expected x"):
        read_inputs(path, GRAPH.entry("forward"))


DAMAGED = {
    "other members": lambda p: npz(p, x=b"no array"),
    "a negative size": lambda p: npz(p, x=npy((-1, 8), "f4", b"")),
    "version 9": lambda p: npz(p, x=b"\x93NUMPY\x09\x00\x10\x00{}"),
    "half a header": lambda p: npz(p, x=npy((2,), "f4", b"")[:20]),
    "nested header": lambda p: npz(p, x=b"\x93NUMPY\x01\x00\x00\x20" + b"[" * 0x2000),
    "a pickle": lambda p: npz(p, x=npy((1,), object, b"cos\nsystem\n(S'false'\ntR.")),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_member_is_refused_by_name(kind: str, tmp_path: Path) -> None:
    path = DAMAGED[kind](tmp_path / "in.npz")
    with pytest.raises(
        ValueError, match=r"in\.npz is not an \.npz file of named inputs: array 'x': "
    ):
        read_inputs(path)


def test_damaged_compressed_data_are_refused(tmp_path: Path) -> None:
    path = npz(tmp_path / "in.npz", zipfile.ZIP_DEFLATED, x=npy((4096,), "f4", os.urandom(16384)))
    content = bytearray(path.read_bytes())
    content[200:400] = b"\xff" * 200
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"is not an \.npz file of named inputs"):
        read_inputs(path)


def test_what_numpy_writes_is_read(tmp_path: Path) -> None:
    given = {
        "x": np.arange(6.0).reshape(2, 3),
        "f": np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)),
        "none": np.ones((0, 3), bool),
        "one": np.array(2.5 + 1j),
        "swapped": np.arange(3, dtype=">i4"),
    }
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "in.npz", **given)
        found = read_inputs(tmp_path / "in.npz")
        assert found.keys() == given.keys()
        for name, array in given.items():
            np.testing.assert_array_equal(found[name], array)
            assert found[name].dtype == array.dtype


NO_NUMBERS: dict[str, Any] = {
    "dates": np.array(["2026-01-01", "2026-01-02"], "M8[s]"),
    "durations": np.array([1, 2], "m8[ms]"),
    "structures": np.zeros(2, [("a", "f4")]),
    "bytes without a meaning": np.zeros(2, "V4"),
    "texts": np.array(["1.5", "2.5"]),
    "byte strings": np.array([b"1.5", b"2.5"]),
    "objects": np.array([None, 1.0], object),
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "bfloat16"])
def test_what_holds_no_numbers_is_not_taken_for_numbers(kind: str, dtype: str) -> None:
    for convert in (convert_array, to_storage):
        with pytest.raises(ValueError, match="does not hold numbers; convert it yourself"):
            convert(NO_NUMBERS[kind], DTYPES[dtype])


@pytest.mark.parametrize("kind", [kind for kind in NO_NUMBERS if kind != "objects"])
def test_files_of_what_holds_no_numbers_are_refused(kind: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=NO_NUMBERS[kind])
    with pytest.raises(ValueError, match=r"array 'x': an array of .* does not hold numbers"):
        read_inputs(tmp_path / "in.npz")


def test_numbers_of_any_length_are_numbers() -> None:
    assert to_storage(np.asarray([2**70, 1]), DTYPES["float32"]).tolist() == [2.0**70, 1.0]


def test_a_message_does_not_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(tmp_path / "\x1b[2J.dlg")]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_bytes_of_any_buffer_are_read() -> None:
    assert read(bytearray(GRAPH.content)).document == GRAPH.document

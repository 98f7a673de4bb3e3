"""``.dlg`` files: written files are read back, and damaged or forged files are rejected."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diopi_proto
import dl_graph
from diopi_proto.dtypes import DTYPES
from dl_graph import GraphBuilder, load, read, show
from dl_graph.__main__ import main
from dl_graph.conversion import convert_array
from dl_graph.errors import GraphError
from dl_graph.output_file import check_output, readable, write_outputs
from graph_models import FIRST, MODELS, decoder, mlp
from graph_vendor import GRAPH_OPERATORS

Compile = Callable[..., Path]
# `nox -s fuzz` tries 10,000.
MUTATIONS = 300


def split(content: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def join(header: dict[str, Any] | bytes, data: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def test_a_file_is_a_safetensors_file() -> None:
    header, data = split(mlp().build().content)
    assert list(header["__metadata__"]) == ["dlg"]
    begin, end = header["first"]["data_offsets"]
    assert header["first"]["dtype"] == "F32" and header["first"]["shape"] == [8, 16]
    assert (np.frombuffer(data[begin:end], np.float32).reshape(8, 16) == FIRST).all()
    assert (len(mlp().build().content) - len(data)) % 64 == 0


def test_the_same_graph_is_the_same_file(tmp_path: Path) -> None:
    graph = decoder().build()
    assert decoder().build().content == graph.content
    graph.save(tmp_path / "model.dlg")
    assert load(tmp_path / "model.dlg").document == graph.document
    assert [path.name for path in tmp_path.iterdir()] == ["model.dlg"]


def test_no_device_and_no_pipe_is_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match=r"is not a regular file and is not replaced: .*pipe"):
        mlp().build().save(tmp_path / "pipe")
    assert [path.is_fifo() for path in tmp_path.iterdir()] == [True]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float16", "float64"])
def test_constants_keep_their_bytes(dtype: str) -> None:
    graph = GraphBuilder()
    values = np.arange(3).astype(dtype)
    graph.constant("odd", np.ones(3, np.uint8))
    entry = graph.entry("forward")
    entry.output("c", entry.use(graph.constant("c", values)))
    header, data = split(graph.build().content)
    begin, end = header["c"]["data_offsets"]
    assert data[begin:end] == values.tobytes()
    assert begin % values.itemsize == 0


def test_a_constant_that_no_file_can_hold_is_refused() -> None:
    graph = GraphBuilder()
    entry = graph.entry("forward")
    entry.output("c", entry.use(graph.constant("c", np.ones(2, np.complex128))))
    with pytest.raises(GraphError, match="constant 'c' is complex128"):
        graph.build()


def forged(change: Callable[[dict[str, Any]], None]) -> bytes:
    header, data = split(mlp().build().content)
    change(header)
    return join(header, data)


def with_document(text: str) -> bytes:
    header, data = split(mlp().build().content)
    header["__metadata__"]["dlg"] = text
    return join(header, data)


GOOD = mlp().build().content
HEADER, DATA = split(GOOD)
TEXT = HEADER["__metadata__"]["dlg"]

FORGED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "too short"),
    "no header": (b"\0" * 8, "not valid JSON"),
    "another file": (b"\x7fELF" * 20, "longer than the file"),
    "a header beyond the file": ((1 << 40).to_bytes(8, "little") + b"{}", "longer than the file"),
    "a file that is cut off": (GOOD[:-1], "outside the file"),
    "more behind it": (GOOD + b"\0", "bytes after the tensors"),
    "a list": (join(b"[]", b""), "its header is not an object"),
    "no graph": (join(b"{}", b""), "not a .dlg file"),
    "a tensor before the file": (
        forged(lambda h: h["bias"].update(data_offsets=[-64, 0])),
        "outside the file",
    ),
    "a tensor behind the file": (
        forged(lambda h: h["bias"].update(data_offsets=[1 << 62, (1 << 62) + 64])),
        "outside the file",
    ),
    "a tensor that ends before it begins": (
        forged(lambda h: h["bias"].update(data_offsets=[64, 0])),
        "outside the file",
    ),
    "tensors that overlap": (
        forged(lambda h: h["second"].update(data_offsets=h["first"]["data_offsets"][:1] * 2)),
        "does not match its shape",
    ),
    "two names for one tensor": (forged(lambda h: h.update(other=h["bias"])), "overlap"),
    "a gap": (forged(lambda h: h.pop("bias")), "a gap between the tensors"),
    "a shape of other bytes": (forged(lambda h: h["bias"].update(shape=[17])), "not match its"),
    "a shape that overflows": (
        forged(lambda h: h["bias"].update(shape=[1 << 62, 1 << 62])),
        "more than 2\\^63 bytes",
    ),
    "a negative size": (forged(lambda h: h["bias"].update(shape=[-16])), "a size is invalid"),
    "an unknown dtype": (forged(lambda h: h["bias"].update(dtype="F8_E4M3")), "'F8_E4M3' is not"),
    "a key twice": (join(b'{"a":1,"a":2}', b""), "duplicate key"),
    "a number with a point": (join(b'{"a":1.5}', b""), "not an integer"),
    "a number beyond 64 bits": (join(b'{"a":99999999999999999999}', b""), "not a 64-bit integer"),
    "too many levels": (join(b"[" * 1000, b""), "more than 64 levels"),
    "white space": (with_document(TEXT.replace(",", ", ", 1)), "not canonical"),
    "keys in another order": (
        with_document(json.dumps(dict(reversed(json.loads(TEXT).items())), separators=(",", ":"))),
        "not canonical",
    ),
    "no UTF-8": (
        GOOD.replace(b'"name":"y', b'"name":"\x86', 1).replace(
            b'\\"name\\":\\"y', b'\\"name\\":\\"\x86', 1
        ),
        "invalid UTF-8",
    ),
    "half a document": (with_document(TEXT[: len(TEXT) // 2]), "not valid JSON"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_file_is_refused(name: str) -> None:
    content, message = FORGED[name]
    with pytest.raises(GraphError, match=message) as refusal:
        read(content, "forged.dlg")
    assert str(refusal.value).startswith("forged.dlg: ")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"none\.dlg"):
        load(tmp_path / "none.dlg")


def test_mutated_files_are_refused_or_run(build_vendor: Compile, tmp_path: Path) -> None:
    """All run in one child process, which no mutation may crash or hang."""
    library = build_vendor(*GRAPH_OPERATORS)
    for name, (make, _) in MODELS.items():
        make().build().save(tmp_path / f"{name}.dlg")
    child = Path(__file__).with_name("graph_mutations.py")
    command = [sys.executable, str(child), str(library), str(tmp_path), str(MUTATIONS)]
    folders = [Path(x.__file__).parents[1] for x in (diopi_proto, dl_graph)]
    path = os.pathsep.join(map(str, [*folders, child.parent]))
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=env)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]
    refused, ran = map(int, done.stdout.splitlines()[-1].split())
    assert refused + ran == MUTATIONS
    assert refused > MUTATIONS // 4


def test_a_graph_is_shown_with_its_plan() -> None:
    text = show(mlp().build("model.dlg"), batch=2)
    assert "entry forward(x: float32[batch, 8])" in text
    assert "  batch in 1 … 64" in text
    assert "  diopiMm(out=hidden, input=x, mat2=first)" in text
    assert "plan for batch = 2: 128 bytes, most live 128, apart 384" in text


def test_the_command_line_shows_verifies_and_runs(
    build_vendor: Compile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, inputs, outputs = (tmp_path / x for x in ("model.dlg", "in.npz", "out.npz"))
    mlp().build().save(file)
    np.savez(inputs, x=np.zeros((1, 8), np.float32))
    library = build_vendor(*GRAPH_OPERATORS)
    assert main(["show", str(file), "--size", "batch=2"]) == 0
    assert "plan for batch = 2" in capsys.readouterr().out
    command = ["run", str(file), str(inputs), "--library", str(library), "--output", str(outputs)]
    assert main(command) == 0
    assert "y float32[1, 4]" in capsys.readouterr().out
    with np.load(outputs) as saved:
        assert saved["y"].shape == (1, 4)
    assert main(["verify", str(file)]) == 0
    file.write_bytes(GOOD[:-1])
    assert main(["verify", str(file)]) == 1
    assert "cut off" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("dtype", "given", "why"),
    [
        ("int64", [0.0, 1.7], "1.7 does not fit int64"),
        ("int64", [np.uint64(2**64 - 1)] * 2, "18446744073709551615 does not fit int64"),
        ("uint8", [3, 256], "256 does not fit uint8"),
        ("uint8", [-1, 2], "-1 does not fit uint8"),
        ("bool", [0, 2], "2 does not fit bool"),
        ("float32", [1e300, 1.0], r"1e\+300 does not fit float32"),
        ("bfloat16", [1e300, 1.0], r"1e\+300 does not fit bfloat16"),
        ("float16", [1e5, 1.0], r"100000.0 does not fit float16"),
        ("float32", [1j, 1.0], "complex128 would lose its imaginary parts as float32"),
    ],
)
def test_values_that_an_input_does_not_have_are_refused(
    dtype: str, given: list[Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        convert_array(np.asarray(given), DTYPES[dtype])


@pytest.mark.parametrize(
    ("dtype", "given", "stored"),
    [
        ("int64", [0.0, -3.0], [0, -3]),
        ("int64", np.asarray([0, 2**62], np.uint64), [0, 2**62]),
        ("uint8", [3, 255], [3, 255]),
        ("bool", [0, 1], [False, True]),
        ("float32", [np.inf, np.nan], [np.inf, np.nan]),
        ("float32", [0.1, 1e-300], [np.float32(0.1), 0.0]),
        ("bfloat16", [np.inf, 1.0], [0x7F80, 0x3F80]),
    ],
)
def test_values_that_an_input_has_are_converted(dtype: str, given: Any, stored: Any) -> None:
    made = convert_array(given, DTYPES[dtype])
    assert made.dtype == DTYPES[dtype].storage
    np.testing.assert_array_equal(made, np.asarray(stored, made.dtype))


def test_run_replaces_no_file_and_says_what_inputs_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, inputs = tmp_path / "model.dlg", tmp_path / "x.npz"
    mlp().build().save(graph)
    np.savez(inputs, x=np.ones(2, np.float32))
    before = inputs.read_bytes()
    library = ["--library", str(tmp_path / "none.so")]
    assert main(["run", str(graph), str(inputs), "--output", str(inputs), *library]) == 2
    assert "x.npz exists; --force replaces it" in capsys.readouterr().err
    assert inputs.read_bytes() == before
    one = tmp_path / "one.npy"
    np.save(one, np.ones(2))
    (tmp_path / "empty.npz").write_bytes(b"")
    for junk in (graph, one, tmp_path / "empty.npz"):
        assert main(["run", str(graph), str(junk), *library]) == 2
        assert f"{junk} is not an .npz file of named inputs" in capsys.readouterr().err


def test_outputs_go_where_they_are_named_or_nowhere(tmp_path: Path) -> None:
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "there.npz").write_bytes(b"old")
    (tmp_path / "link.npz").symlink_to(tmp_path / "there.npz")
    for name, force, said in (
        ("there", False, "has to end in .npz"),
        ("there.NPZ", True, "has to end in .npz"),
        ("there.npz", False, "exists; --force replaces it"),
        ("folder.npz", True, "is not a regular file"),
        ("link.npz", True, "is not a regular file"),
    ):
        with pytest.raises(ValueError, match=said):
            check_output(tmp_path / name, force)
    check_output(tmp_path / "there.npz", True)
    check_output(tmp_path / "new.npz", False)


def test_outputs_may_have_any_name_and_shape(tmp_path: Path) -> None:
    given = {
        "file": np.arange(6.0).reshape(2, 3),
        "y.0": np.array(2.5),
        "none": np.ones((0, 3), bool),
        "half": readable(np.array([0x3F80, 0xC040], np.uint16), "bfloat16"),
    }
    write_outputs(tmp_path / "out.npz", given)
    with np.load(tmp_path / "out.npz") as found:
        assert set(found.files) == set(given)
        for name, array in given.items():
            np.testing.assert_array_equal(found[name], array)
            assert found[name].shape == array.shape
    assert given["half"].tolist() == [1.0, -3.0]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "out.npz"
    write_outputs(path, {"y": np.ones(3)})
    before = path.read_bytes()
    with pytest.raises(ValueError, match="allow_pickle"):
        write_outputs(path, {"x": np.ones(3), "y": np.array([object()])})
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["out.npz"]

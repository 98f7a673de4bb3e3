"""Tests of the simulated operator library: each wrong call is found, and faults occur on demand."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent / "fakes"))

from ascend.operators import generate
from ascend.operators.build import build_operators
from ascend.operators.calls import NCHW, ND, CallError, Library

HERE = Path(__file__).parent
OK_MATRIX = np.arange(6, dtype="float32").reshape(2, 3)

NULL, INVALID, MISUSE, NO_KERNEL = 161001, 161002, 361001, 561003


@pytest.fixture
def library(ascend_library: Library) -> Iterator[Library]:
    """Return the library for calls that are wrong."""
    with ascend_library.scope():
        yield ascend_library


def failure(code: int, text: str, function: Callable[..., Any], *arguments: Any) -> None:
    """Check that the call fails with the code, and a text that contains this one."""
    with pytest.raises(CallError) as caught:
        function(*arguments)
    assert caught.value.code == code, caught.value
    assert text in caught.value.text


def test_swapped_arguments_give_another_result(library: Library) -> None:
    """For each pair of arguments of one type and shape."""
    a, b = (library.tensor(OK_MATRIX + i) for i in range(2))
    for name in "aclnnSub", "aclnnDiv", "aclnnPowTensorTensor", "aclnnAtan2", "aclnnGtTensor":
        dtype = "bool" if name == "aclnnGtTensor" else "float32"
        one, other = (library.tensor(np.zeros((2, 3), dtype)) for _ in range(2))
        extra = [1.0] if name == "aclnnSub" else []
        library.call(name, a, b, *extra, one)
        library.call(name, b, a, *extra, other)
        assert not np.array_equal(one.numpy(), other.numpy()), name


def test_shapes_that_do_not_fit_are_refused(library: Library) -> None:
    x = library.tensor(OK_MATRIX)
    out = library.tensor(np.zeros((2, 2), "float32"))
    failure(INVALID, "2x3", library.call, "aclnnMm", x, x, out, 0)
    failure(INVALID, "reduced shape", library.call, "aclnnMean", x, [0], True, "float32", out)


def test_lists_of_other_lengths_are_refused_after_a_right_call(library: Library) -> None:
    """All calls have six tensors of one shape and dtype; only the lengths of the lists differ."""
    numbers = [0.05, 0.9, 0.1, 0.3, False, True, False]

    def step(*lengths: int | None) -> None:
        lists = [
            None if length is None else [library.tensor(OK_MATRIX) for _ in range(length)]
            for length in lengths
        ]
        library.call("aclnnFusedSgd", *lists, None, *numbers)

    step(2, 2, 2)
    failure(INVALID, "aclnnFusedSgd", step, 3, 1, 2)
    step(3, 3, None)
    failure(INVALID, "aclnnFusedSgd", step, 3, 3, 0)


def test_wrong_dtypes_are_refused(library: Library) -> None:
    x = library.tensor(OK_MATRIX.astype("int32"))
    out = library.tensor(OK_MATRIX)
    failure(INVALID, "x: dtype int32", library.call, "aclnnGeluV2", x, 0, out)
    failure(INVALID, "dtype is not that of out", library.call, "aclnnCast", x, "float16", out)


def test_wrong_ranks_are_refused(library: Library) -> None:
    x = library.tensor(OK_MATRIX)
    out = library.tensor(OK_MATRIX)
    failure(INVALID, "rank 2", library.call, "aclnnAdaptiveAvgPool2d", x, [1, 1], out)


def test_wrong_formats_are_refused(library: Library) -> None:
    image = np.zeros((1, 2, 4, 4), "float32")
    weight, out = (
        library.tensor(np.zeros((3, 2, 1, 1), "float32")),
        np.zeros((1, 3, 4, 4), "float32"),
    )

    def convolve(format: int) -> None:
        x, result = (library.tensor(value, format=format) for value in (image, out))
        tail = [[1, 1], [0, 0], [1, 1], False, [0, 0], 1, result, 0]
        library.call("aclnnConvolution", x, weight, None, *tail)

    convolve(NCHW)
    failure(INVALID, "format 2 is not supported", convolve, ND)
    x, y = library.tensor(OK_MATRIX, format=NCHW), library.tensor(OK_MATRIX)
    failure(INVALID, "another rank", library.call, "aclnnRelu", x, y)


def test_missing_arguments_are_refused(library: Library) -> None:
    x = library.tensor(OK_MATRIX)
    failure(NULL, "other: the argument may not be NULL", library.call, "aclnnMul", x, None, x)


def test_host_memory_is_misuse(library: Library) -> None:
    host = np.zeros((2, 3), "float32")
    x = library.tensor(OK_MATRIX, base=host.ctypes.data // 32 * 32)
    out = library.tensor(OK_MATRIX)
    failure(MISUSE, "not inside one live allocation", library.call, "aclnnRelu", x, out)


def test_freed_memory_is_misuse(library: Library) -> None:
    x, out = library.tensor(OK_MATRIX), library.tensor(OK_MATRIX)
    library.free(x.base)
    failure(MISUSE, "not inside one live allocation", library.call, "aclnnRelu", x, out)


def test_extents_beyond_the_memory_are_misuse(library: Library) -> None:
    x, out = library.tensor(OK_MATRIX, storage=[7]), library.tensor(OK_MATRIX)
    failure(MISUSE, "not inside one live allocation", library.call, "aclnnRelu", x, out)
    x = library.tensor(OK_MATRIX, offset=1)
    failure(MISUSE, "reaches element 7", library.call, "aclnnRelu", x, out)


def test_unaligned_storage_is_misuse(library: Library) -> None:
    base = library.allocate(64)
    x = library.tensor(OK_MATRIX, base=base + 8)
    out = library.tensor(OK_MATRIX)
    failure(MISUSE, "not aligned to 32 bytes", library.call, "aclnnRelu", x, out)


def test_destroyed_tensors_are_misuse(library: Library) -> None:
    x, out = library.tensor(OK_MATRIX), library.tensor(OK_MATRIX)
    size, executor = library.plan("aclnnRelu", x, out)
    library.base.aclDestroyTensor(ctypes.c_void_p(x.handle))
    library.owned.remove(("Tensor", x.handle))
    workspace = library.allocate(size)
    arguments = ("aclnnRelu", workspace, size, executor)
    failure(MISUSE, "destroyed before phase 2", library.execute, *arguments)
    failure(MISUSE, "self: the object is not alive", library.call, "aclnnRelu", x, out)


def test_an_object_of_another_type_is_misuse(library: Library) -> None:
    x, number = library.tensor(OK_MATRIX), library.scalar(1.0)
    wrong = ctypes.c_void_p(number)
    failure(MISUSE, "other: the object is not alive", library.call, "aclnnMul", x, wrong, x)


def test_workspaces_are_checked(library: Library) -> None:
    x, out = library.tensor(OK_MATRIX), library.tensor(OK_MATRIX)

    def execute(place: Callable[[int], int | None], change: int = 0) -> None:
        size, executor = library.plan("aclnnRelu", x, out)
        assert size % 2 == 1
        library.execute("aclnnRelu", place(size), size + change, executor)

    failure(MISUSE, "instead of 1237", execute, library.allocate, -1)
    failure(MISUSE, "workspace of 1237 bytes is not", execute, lambda size: library.allocate(1236))
    failure(MISUSE, "workspace of 1237 bytes is not", execute, lambda size: None)
    large = library.tensor(np.zeros(2000, "float32"))
    y = library.tensor(np.zeros(2000, "float32"))
    size, executor = library.plan("aclnnRelu", large, y)
    arguments = ("aclnnRelu", large.base, size, executor)
    failure(MISUSE, "the workspace overlaps self", library.execute, *arguments)


def test_an_executor_runs_once(library: Library) -> None:
    x, out = library.tensor(OK_MATRIX), library.tensor(OK_MATRIX)
    size, executor = library.plan("aclnnRelu", x, out)
    workspace = library.allocate(size)
    library.execute("aclnnRelu", workspace, size, executor)
    arguments = ("aclnnRelu", workspace, size, executor)
    failure(MISUSE, "it ends with phase 2", library.execute, *arguments)
    size, executor = library.plan("aclnnRelu", x, out)
    arguments = ("aclnnExp", workspace, size, executor)
    failure(MISUSE, "the executor belongs to aclnnRelu", library.execute, *arguments)
    assert library.count("executors") == 1
    library.base.aclDestroyAclOpExecutor(ctypes.c_void_p(executor))
    library.synchronize()


def test_a_repeatable_executor_takes_the_same_tensors(library: Library) -> None:
    x, out = library.tensor(OK_MATRIX), library.tensor(OK_MATRIX)
    size, executor = library.plan("aclnnNeg", x, out)
    workspace, handle = library.allocate(size), ctypes.c_void_p(executor)
    assert library.base.aclSetAclOpExecutorRepeatable(handle) == 0
    library.execute("aclnnNeg", workspace, size, executor)
    other, result = library.tensor(OK_MATRIX * 2), library.tensor(OK_MATRIX)
    set_input, set_output = library.base.aclSetInputTensorAddr, library.base.aclSetOutputTensorAddr

    def bind(function: Any, tensor: int, base: int) -> int:
        zero = ctypes.c_size_t(0)
        return int(function(handle, zero, ctypes.c_void_p(tensor), ctypes.c_void_p(base)))

    assert bind(set_input, x.handle, other.base) == 0
    assert bind(set_output, out.handle, result.base) == 0
    library.execute("aclnnNeg", workspace, size, executor)
    assert np.array_equal(result.numpy(), OK_MATRIX * -2)
    assert bind(set_input, other.handle, other.base) == MISUSE
    assert bind(set_input, x.handle, other.base + 4) == 0
    arguments = ("aclnnNeg", workspace, size, executor)
    failure(MISUSE, "not aligned", library.execute, *arguments)
    assert library.base.aclDestroyAclOpExecutor(handle) == 0
    size, executor = library.plan("aclnnNeg", x, out)
    handle = ctypes.c_void_p(executor)
    assert bind(set_input, x.handle, other.base) == MISUSE
    library.base.aclDestroyAclOpExecutor(handle)


def test_partial_overlap_is_misuse(library: Library) -> None:
    base = library.allocate(64)
    value = np.arange(8, dtype="float32")
    whole = library.tensor(value, base=base, storage=[16])
    half = library.tensor(value, base=base, offset=4, storage=[16])
    failure(MISUSE, "shares part of its memory", library.call, "aclnnRelu", half, whole)
    library.call("aclnnRelu", whole, library.tensor(value, base=base, storage=[16]))
    # Columns of one matrix interleave, and share nothing.
    left, right = (
        library.tensor(OK_MATRIX[:, :1], base=base, strides=[2, 1], offset=i, storage=[4])
        for i in range(2)
    )
    library.call("aclnnRelu", left, right)


def test_outputs_whose_elements_share_memory_are_misuse(library: Library) -> None:
    x = library.tensor(OK_MATRIX)
    out = library.tensor(OK_MATRIX[:1], sizes=[2, 3], strides=[0, 1])
    failure(MISUSE, "elements that share memory", library.call, "aclnnRelu", x, out)


def test_missing_contiguous_copies_are_misuse(library: Library) -> None:
    x = library.tensor(OK_MATRIX, sizes=[3, 2], strides=[1, 3])
    index = library.tensor(np.zeros((3, 2), "int64"))
    out = library.tensor(np.zeros((3, 2), "float32"))
    src = library.tensor(OK_MATRIX.reshape(3, 2))
    library.call("aclnnScatterAdd", src, 0, index, src, out)
    arguments = ("aclnnScatterAdd", src, 0, index, x, out)
    failure(MISUSE, "must be contiguous", library.call, *arguments)


def test_streams_are_checked(library: Library) -> None:
    x, out = library.tensor(OK_MATRIX), library.tensor(OK_MATRIX)
    stream = library.create_stream()
    assert library.runtime.aclrtDestroyStream(stream) == 0
    size, executor = library.plan("aclnnRelu", x, out)
    arguments = ("aclnnRelu", library.allocate(size), size, executor, stream)
    failure(MISUSE, "the stream is not alive", library.execute, *arguments)


def test_the_workspace_is_used_on_the_stream(library: Library) -> None:
    """The workspace must not be freed or used before the work has run."""
    x, out = library.tensor(OK_MATRIX), library.tensor(OK_MATRIX)
    size, executor = library.plan("aclnnRelu", x, out)
    workspace = library.allocate(size)
    library.execute("aclnnRelu", workspace, size, executor)
    library.synchronize()
    found = np.zeros(size, "uint8")
    library.copy(found.ctypes.data, workspace, size, 2)
    assert (found == 0xA5).all()


def test_bytes_behind_a_written_block_change_on_demand(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = library.allocate(96)
    value = np.arange(8, dtype="float32")
    blocks = [library.tensor(value, base=base + 32 * i) for i in range(2)]
    library.copy(base + 32, value.ctypes.data, value.nbytes, 1)
    source = library.tensor(value)
    library.call("aclnnNeg", source, blocks[0])
    assert np.array_equal(blocks[1].numpy(), value)
    monkeypatch.setenv("FAKE_ACLNN_SPILL", "1")
    library.call("aclnnNeg", source, blocks[0])
    assert np.array_equal(blocks[0].numpy(), -value)
    assert (blocks[1].numpy().view("uint8") == 0xA5).all()


def test_empty_tensors_need_no_workspace(library: Library) -> None:
    x = library.tensor(np.zeros((0, 3), "float32"))
    size, executor = library.plan("aclnnRelu", x, library.tensor(np.zeros((0, 3), "float32")))
    assert size == 0
    library.execute("aclnnRelu", None, 0, executor)


def test_one_tensor_as_input_and_output_is_right(library: Library) -> None:
    square = np.arange(9, dtype="float32").reshape(3, 3)
    x = library.tensor(square)
    library.call("aclnnMm", x, x, x, 0)
    assert np.array_equal(x.numpy(), square @ square)


def test_errors_in_data_come_from_the_stream(library: Library, capfd: Any) -> None:
    table, index = library.tensor(OK_MATRIX), library.tensor(np.array([5]))
    out = library.tensor(np.zeros((1, 3), "float32"))
    size, executor = library.plan("aclnnEmbedding", table, index, out)
    library.execute("aclnnEmbedding", library.allocate(size), size, executor)
    failure(507015, "", library.synchronize)
    assert "failed on its stream" in capfd.readouterr().err


def test_faults_are_injected(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    x, out = library.tensor(OK_MATRIX), library.tensor(OK_MATRIX)
    for point, code in (
        ("aclnnReluGetWorkspaceSize", 561003),
        ("aclnnRelu", 361001),
        ("aclnnRelu@stream", 507015),
    ):
        monkeypatch.setenv("FAKE_ACLNN_FAIL", f"aclnnExp:1,{point}:{code}")
        failure(code, "", library.call, "aclnnRelu", x, out)
        for memory in [each for each in library.memory if each not in (x.base, out.base)]:
            library.free(memory)
    monkeypatch.delenv("FAKE_ACLNN_FAIL")
    library.call("aclnnRelu", x, out)


def test_objects_are_not_created_on_demand(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_ACLNN_FAIL", "aclCreateScalar:1,aclCreateIntArray:1")
    for create, value in (library.scalar, 1.0), (library.ints, [1]):
        with pytest.raises(MemoryError):
            create(value)
    monkeypatch.delenv("FAKE_ACLNN_FAIL")
    assert library.scalar(1.0) != 0


def test_calls_are_logged(
    library: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("FAKE_ACLNN_LOG", str(log))
    x = library.tensor(OK_MATRIX)
    library.call("aclnnRelu", x, x)
    failure(NULL, "", library.call, "aclnnMul", x, None, x)
    lines = log.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["aclnnReluGetWorkspaceSize", "aclnnRelu", "aclnnMulGetWorkspaceSize"]
    assert lines[3].startswith("refused: aclnnMul, other")


def test_every_function_is_exported_with_its_two_phases(library: Library) -> None:
    for name in generate.read_structure():
        library.find(name)
        library.find(f"{name}GetWorkspaceSize")


def test_functions_without_a_meaning_are_refused(library: Library) -> None:
    x = library.tensor(OK_MATRIX)
    failure(NO_KERNEL, "no meaning", library.call, "aclnnNpuFormatCast", x, x)


def test_leaks_are_counted(ascend_library: Library) -> None:
    with ascend_library.scope():
        x = ascend_library.tensor(OK_MATRIX)
        out = ascend_library.tensor(OK_MATRIX)
        _, executor = ascend_library.plan("aclnnAdd", x, x, 1.0, out)
        counts = {k: ascend_library.count(k) for k in ("tensors", "scalars", "executors")}
        assert counts == {"tensors": 2, "scalars": 1, "executors": 1}
    assert ascend_library.count("tensors") == ascend_library.count("scalars") == 0
    # An executor whose phase 2 never runs stays; nothing else ends it.
    assert ascend_library.count("executors") == 1
    assert ascend_library.base.aclDestroyAclOpExecutor(ctypes.c_void_p(executor)) == 0


def test_libraries_are_split_and_lack_functions_on_demand(
    ascend_folder: Path, tmp_path: Path
) -> None:
    """Newer releases have several libraries; older ones lack functions."""
    built = build_operators(
        tmp_path,
        runtime=ascend_folder / "libascendcl.so",
        split=True,
        missing=["aclnnAdd"],
        base=ascend_folder / "libnnopbase.so",
    )
    names = [f"libopapi_{share}.so" for share in generate.SHARES]
    assert sorted(path.name for path in built.glob("libopapi*.so")) == sorted(names)
    code = f"""
    import ctypes
    ctypes.CDLL({str(ascend_folder / "libnnopbase.so")!r}, mode=ctypes.RTLD_GLOBAL)
    libraries = [ctypes.CDLL({str(built)!r} + "/" + name) for name in {names!r}]
    print(*(sum(hasattr(x, name) for x in libraries) for name in ("aclnnSub", "aclnnAdd")))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "1 0\n"


def test_the_meanings_are_independent_of_the_operators() -> None:
    """The description of the vendor's operators, and the calls that it was made from, are not read
    by the fake: only names and types are common.
    """
    words = ("operators.yaml", "mapping.csv", "vendor-ascend", "vendor_ascend", "library/operators")
    folder = HERE / "fakes" / "ascend"
    files = [*(folder / "meaning").iterdir(), *(folder / "operators").iterdir()]
    for path in files:
        if path.suffix not in (".cpp", ".h", ".py"):
            continue
        text = path.read_text(encoding="utf-8")
        # The comment that states the rule is allowed.
        text = text.replace("Meanings never see operators.yaml", "")
        found = [word for word in words if word in text]
        assert not found, f"{path.name} names {found}"
    imported = {
        line.split()[1]
        for path in (folder / "operators").glob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith(("import ", "from "))
    }
    assert not {name for name in imported if name.startswith("dl_vendor_kit")}
    table = (folder / "generated" / "functions.gen.cpp").read_text(encoding="utf-8")
    assert "diopi" not in table and "dlop" not in table


def test_misuse_of_the_library_is_reported(ascend_folder: Path) -> None:
    """Misuse is printed, so that a test that reads no counts shows it."""
    code = f"""
    import sys
    sys.path.insert(0, {str(HERE / "fakes")!r})
    from pathlib import Path
    from ascend.operators.calls import Library
    folder = Path({str(ascend_folder)!r})
    Library(folder / "libascendcl.so", folder).base.aclDestroyTensor(64)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    assert done.stderr == (
        "simulated aclnn: misuse: aclDestroyTensor: the object is not alive, or has another type\n"
    )

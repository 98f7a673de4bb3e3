"""Call functions of the fake operator library from Python, as a vendor does from C."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .generate import STRUCTURE

DTYPES = {
    "float32": 0,
    "float16": 1,
    "int8": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 6,
    "int64": 9,
    "float64": 11,
    "bool": 12,
    "complex64": 16,
    "complex128": 17,
}
ND, NCHW, NCL, NCDHW = 2, 0, 47, 30
_FORMATS = {3: NCL, 4: NCHW, 5: NCDHW}
_NUMBERS = {
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "int": ctypes.c_int,
    "int8_t": ctypes.c_int8,
    "bool": ctypes.c_bool,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "aclDataType": ctypes.c_int,
    "char*": ctypes.c_char_p,
}


class CallError(RuntimeError):
    """A function returned an error code."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


class Tensor:
    """A tensor of the device, and the aclTensor that describes it."""

    def __init__(self, library: Library, value: np.ndarray, base: int, handle: int) -> None:
        self.library, self.base, self.handle = library, base, handle
        self.shape, self.dtype = value.shape, value.dtype

    def numpy(self) -> np.ndarray:
        """Return the elements, which must be contiguous."""
        self.library.synchronize()
        out = np.empty(self.shape, self.dtype)
        if out.size:
            self.library.copy(out.ctypes.data, self.base, out.nbytes, 2)
        return out


class Library:
    """The fake libraries in one folder, on device 0."""

    def __init__(
        self, runtime: Path, folder: Path, names: Sequence[str] = ("libopapi.so",)
    ) -> None:
        self.runtime = ctypes.CDLL(str(runtime), mode=ctypes.RTLD_GLOBAL)
        self.base = ctypes.CDLL(str(folder / "libnnopbase.so"), mode=ctypes.RTLD_GLOBAL)
        self.operators = [ctypes.CDLL(str(folder / name)) for name in names]
        self.runtime.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.base.fakeAclnnCount.restype = ctypes.c_size_t
        self.types = _argument_types()
        self.runtime.aclInit(None)
        self.runtime.aclrtSetDevice(0)
        self.stream = self.create_stream()
        for name in ("Tensor", "Scalar", "IntArray", "BoolArray", "TensorList"):
            getattr(self.base, f"aclCreate{name}").restype = ctypes.c_void_p
        self.owned: list[tuple[str, int]] = []
        self.memory: list[int] = []

    def count(self, what: str) -> int:
        """Return a number of live objects, or of misuses."""
        return int(self.base.fakeAclnnCount(what.encode()))

    def view_shape(self, tensor: Tensor) -> list[int]:
        """Return the shape that aclGetViewShape reports."""
        sizes, count = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64()
        arguments = (ctypes.c_void_p(tensor.handle), ctypes.byref(sizes), ctypes.byref(count))
        self._check(self.base.aclGetViewShape(*arguments))
        return [sizes[i] for i in range(count.value)]

    def create_stream(self) -> ctypes.c_void_p:
        """Return a new stream."""
        stream = ctypes.c_void_p()
        self._check(self.runtime.aclrtCreateStreamWithConfig(ctypes.byref(stream), 0, 0))
        return stream

    def synchronize(self) -> None:
        """Wait for the stream, and raise its error."""
        self._check(self.runtime.aclrtSynchronizeStream(self.stream))

    def copy(self, to: int, source: int, size: int, kind: int) -> None:
        """Copy between host and device, and wait: kind 1 to the device, 2 from it."""
        count = ctypes.c_size_t(size)
        arguments = (ctypes.c_void_p(to), count, ctypes.c_void_p(source), count)
        self._check(self.runtime.aclrtMemcpyAsync(*arguments, kind, self.stream))
        self.synchronize()

    def allocate(self, size: int) -> int:
        """Return the address of device memory."""
        memory = ctypes.c_void_p()
        self._check(self.runtime.aclrtMalloc(ctypes.byref(memory), ctypes.c_size_t(size), 0))
        assert memory.value is not None
        self.memory.append(memory.value)
        return memory.value

    def free(self, memory: int) -> None:
        """Free device memory."""
        self.memory.remove(memory)
        self._check(self.runtime.aclrtFree(ctypes.c_void_p(memory)))

    def tensor(
        self,
        value: Any,
        *,
        base: int | None = None,
        sizes: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        offset: int = 0,
        storage: Sequence[int] | None = None,
        format: int | None = None,
        dtype: int | None = None,
    ) -> Tensor:
        """Return a tensor with the value; the other parameters replace what describes it."""
        value = np.ascontiguousarray(value).reshape(np.shape(value))
        if base is None:
            base = self.allocate(max(value.nbytes, 1))
            if value.size:
                self.copy(base, value.ctypes.data, value.nbytes, 1)
        sizes = value.shape if sizes is None else sizes
        if strides is None:
            strides = [int(np.prod(sizes[i + 1 :], dtype=np.int64)) for i in range(len(sizes))]
        storage = [value.size] if storage is None else storage
        number = DTYPES[str(value.dtype)] if dtype is None else dtype
        layout = _FORMATS.get(len(sizes), ND) if format is None else format
        handle = self.base.aclCreateTensor(
            _int64s(sizes),
            ctypes.c_uint64(len(sizes)),
            number,
            _int64s(strides),
            ctypes.c_int64(offset),
            layout,
            _int64s(storage),
            ctypes.c_uint64(len(storage)),
            ctypes.c_void_p(base),
        )
        self.owned.append(("Tensor", handle))
        return Tensor(self, value, base, handle)

    def scalar(self, value: float | np.generic) -> int:
        """Return an aclScalar: int64 for an int, float32 for a float, else the numpy dtype."""
        if isinstance(value, bool):
            value = np.bool_(value)
        elif isinstance(value, int):
            value = np.int64(value)
        elif isinstance(value, float):
            value = np.float32(value)
        array = np.array([value])
        return self._own("Scalar", ctypes.c_void_p(array.ctypes.data), DTYPES[str(array.dtype)])

    def ints(self, values: Sequence[int]) -> int:
        """Return an aclIntArray."""
        return self._own("IntArray", _int64s(values), ctypes.c_uint64(len(values)))

    def bools(self, values: Sequence[bool]) -> int:
        """Return an aclBoolArray."""
        array = (ctypes.c_bool * len(values))(*values)
        return self._own("BoolArray", array, ctypes.c_uint64(len(values)))

    def tensors(self, values: Sequence[Tensor | None]) -> int:
        """Return an aclTensorList, which owns the tensors from now on."""
        handles = [None if value is None else value.handle for value in values]
        self.owned = [each for each in self.owned if each[1] not in handles]
        array = (ctypes.c_void_p * len(values))(*handles)
        return self._own("TensorList", array, ctypes.c_uint64(len(values)))

    def plan(self, name: str, *arguments: Any) -> tuple[int, int]:
        """Run phase 1 and return the workspace's size and the executor."""
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        values = [
            self._argument(type, value)
            for type, value in zip(self.types[name], arguments, strict=True)
        ]
        function = self.find(f"{name}GetWorkspaceSize")
        self._check(function(*values, ctypes.byref(size), ctypes.byref(executor)))
        assert executor.value is not None
        return size.value, executor.value

    def execute(
        self, name: str, workspace: int | None, size: int, executor: int, stream: Any = None
    ) -> None:
        """Run phase 2."""
        code = self.find(name)(
            ctypes.c_void_p(workspace),
            ctypes.c_uint64(size),
            ctypes.c_void_p(executor),
            self.stream if stream is None else stream,
        )
        self._check(code)

    def call(self, name: str, *arguments: Any) -> None:
        """Run both phases, and wait."""
        size, executor = self.plan(name, *arguments)
        workspace = self.allocate(size) if size else None
        self.execute(name, workspace, size, executor)
        self.synchronize()
        if workspace is not None:
            self.free(workspace)

    def find(self, name: str) -> Any:
        """Return a function of one of the libraries."""
        for library in self.operators:
            if hasattr(library, name):
                return getattr(library, name)
        raise AttributeError(name)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Destroy objects and memory at the end."""
        try:
            yield
        finally:
            for kind, handle in reversed(self.owned):
                getattr(self.base, f"aclDestroy{kind}")(ctypes.c_void_p(handle))
            self.owned.clear()
            for memory in list(self.memory):
                self.free(memory)

    def _own(self, kind: str, *arguments: Any) -> int:
        handle = getattr(self.base, f"aclCreate{kind}")(*arguments)
        if handle is None:
            raise MemoryError(f"aclCreate{kind} returned NULL")
        self.owned.append((kind, handle))
        return int(handle)

    def _argument(self, type: str, value: Any) -> Any:
        plain = type.removeprefix("const ")
        if plain in _NUMBERS:
            if plain == "aclDataType":
                value = DTYPES.get(value, value)
            return _NUMBERS[plain](value.encode() if plain == "char*" else value)
        if value is None or isinstance(value, ctypes.c_void_p):
            return value
        if isinstance(value, Tensor):
            value = value.handle
        elif plain == "aclScalar*":
            value = self.scalar(value)
        elif plain == "aclIntArray*":
            value = self.ints(value)
        elif plain == "aclBoolArray*":
            value = self.bools(value)
        elif plain == "aclTensorList*":
            value = self.tensors(value)
        return ctypes.c_void_p(value)

    def _check(self, code: int) -> None:
        if code:
            text = self.runtime.aclGetRecentErrMsg() or b""
            raise CallError(code, text.decode())


def _int64s(values: Sequence[int]) -> Any:
    return (ctypes.c_int64 * len(values))(*values)


def _argument_types() -> dict[str, list[str]]:
    text = (STRUCTURE / "functions.gen.cpp").read_text(encoding="utf-8")
    tables = re.finditer(r"^const Argument k_(\w+)\[\] = \{\n(.*?)\n\};", text, re.M | re.S)
    return {table[1]: re.findall(r'\{"\w+",\s+"([^"]*)",', table[2]) for table in tables}

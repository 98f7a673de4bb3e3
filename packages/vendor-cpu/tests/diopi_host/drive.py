"""Run a library in DIOPI's own convention under host.c, in a child process.

python drive.py HOST_LIBRARY IMPL_LIBRARY OPERATOR...

Prints JSON: results of a few operators, and the status of every operator with plausible arguments.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import cffi
import numpy as np

from diopi_proto.host.cabi import constants, ffi
from diopi_proto.schema import load

HOST_FUNCTIONS = """
void* host_context(void);
void* host_tensor(void*, int32_t, int64_t, const int64_t*, const int64_t*);
void* host_data(void*);
int64_t host_required(void*);
uint64_t host_offset(void*);
void* host_generator(uint64_t);
void host_close(void*);
"""
DTYPES = {"float32": np.float32, "float64": np.float64, "int64": np.int64, "bool": np.bool_}


class Host:
    """host.c, and its tensors created from arrays."""

    def __init__(self, path: str) -> None:
        self._ffi = cffi.FFI()
        self._ffi.cdef(HOST_FUNCTIONS)
        self.library: Any = self._ffi.dlopen(path, self._ffi.RTLD_NOW | self._ffi.RTLD_GLOBAL)
        self.context = self.library.host_context()

    def tensor(self, array: Any, *, transposed: bool = False) -> Any:
        """Return a tensor with the elements; `transposed` stores them column by column."""
        values = np.asarray(array)
        strides = self._ffi.NULL
        if transposed:
            strides = [int(np.prod(values.shape[:d], initial=1)) for d in range(values.ndim)]
        code = getattr(constants, f"diopi_dtype_{values.dtype.name}")
        made = self.library.host_tensor(
            self.context, code, values.ndim, list(values.shape), strides
        )
        stored = values.T if transposed else values
        data = np.ascontiguousarray(stored).tobytes()
        self._ffi.buffer(self.library.host_data(made), len(data))[:] = data
        return made

    def read(self, tensor: Any, dtype: str, count: int) -> list[Any]:
        size = np.dtype(DTYPES[dtype]).itemsize * count
        buffer = self._ffi.buffer(self.library.host_data(tensor), size)
        values: list[Any] = np.frombuffer(buffer, DTYPES[dtype]).tolist()
        return values


def handle(kind: str, value: Any) -> Any:
    return ffi.cast(kind, int(cffi.FFI().cast("uintptr_t", value)))


class Library:
    """Operators by name."""

    def __init__(self, path: str, host: Host) -> None:
        self.library: Any = ffi.dlopen(path)
        self.host = host
        self.context = handle("diopiContextHandle_t", host.context)

    def call(self, name: str, *arguments: Any) -> int:
        code: int = getattr(self.library, name)(self.context, *arguments)
        return code

    def error(self) -> str:
        text: bytes = ffi.string(self.library.diopiGetLastErrorString())
        return text.decode()


def out(tensor: Any) -> Any:
    return handle("diopiTensorHandle_t", tensor)


def const(tensor: Any) -> Any:
    return handle("diopiConstTensorHandle_t", tensor)


def results(host: Host, impl: Library) -> dict[str, Any]:
    """Return the results of a few operators; the test has the expected ones."""
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    b = np.full((3, 4), 2, np.float32)
    x, y = host.tensor(a, transposed=True), host.tensor(b)
    found: dict[str, Any] = {}
    one = ffi.new("diopiScalar_t*", {"stype": constants.diopi_dtype_float64})
    one.fval = 1.0
    total = host.tensor(np.zeros((3, 4), np.float32))
    code = impl.call("diopiAdd", out(total), const(x), const(y), one)
    found["add"] = [code, host.read(total, "float32", 12)]
    product = host.tensor(np.zeros((3, 3), np.float32))
    turned = host.tensor(b.T.copy())
    code = impl.call("diopiMm", out(product), const(x), const(turned))
    found["mm"] = [code, host.read(product, "float32", 9)]
    soft = host.tensor(np.zeros((3, 4), np.float32))
    code = impl.call("diopiSoftmax", out(soft), const(y), 1)
    found["softmax"] = [code, host.read(soft, "float32", 12)]
    mask = host.tensor(a > 5)
    chosen = ffi.new("diopiTensorHandle_t*")
    code = impl.call("diopiMaskedSelect", chosen, const(x), const(mask))
    found["masked_select"] = [code, host.read(ffi_pointer(chosen[0]), "float32", 6)]
    found["required"] = host.library.host_required(host.context)
    generator = host.library.host_generator(7)
    drawn = host.tensor(np.zeros(1000, np.float32))
    code = impl.call(
        "diopiUniformInp", out(drawn), 0.0, 1.0, handle("diopiGeneratorHandle_t", generator)
    )
    found["uniform"] = [code, host.read(drawn, "float32", 1000)]
    found["offset"] = host.library.host_offset(generator)
    wrong = host.tensor(np.zeros((2, 2), np.float32))
    code = impl.call("diopiMm", out(wrong), const(x), const(y))
    found["wrong"] = [code, impl.error()]
    return found


def ffi_pointer(value: Any) -> Any:
    return cffi.FFI().cast("void*", int(ffi.cast("uintptr_t", value)))


def plausible(host: Host, kind: str) -> Any:
    """Return an argument of a type, or None if there is no simple one."""
    values = np.arange(9, dtype=np.float32).reshape(3, 3) / 8 + 0.25
    if kind == "diopiTensorHandle_t":
        return out(host.tensor(values))
    if kind == "diopiConstTensorHandle_t":
        return const(host.tensor(values))
    if kind == "diopiGeneratorHandle_t":
        return handle(kind, host.library.host_generator(1))
    if kind == "const diopiScalar_t*":
        scalar = ffi.new("diopiScalar_t*", {"stype": constants.diopi_dtype_float64})
        scalar.fval = 0.5
        return scalar
    if kind in ("int64_t", "int32_t", "diopiReduction_t", "diopiRoundMode_t"):
        return 0
    if kind == "bool":
        return False
    if kind in ("double", "float"):
        return 0.5
    return None


def statuses(host: Host, impl: Library, operators: list[str]) -> dict[str, Any]:
    """Return the status and the message of each operator, or None if it was not called."""
    schema = load()
    found: dict[str, Any] = {}
    for name in operators:
        arguments = [plausible(host, parameter.type) for parameter in schema[name].params[1:]]
        if any(argument is None for argument in arguments):
            found[name] = None
            continue
        found[name] = [impl.call(name, *arguments), impl.error()]
    return found


def main() -> None:
    host = Host(sys.argv[1])
    impl = Library(sys.argv[2], host)
    report = {
        "vendor": ffi.string(impl.library.diopiGetVendorName()).decode(),
        "version": ffi.string(impl.library.diopiGetImplVersion()).decode(),
        "results": results(host, impl),
        "statuses": statuses(host, impl, sys.argv[3:]),
    }
    host.library.host_close(host.context)
    print(json.dumps(report))


if __name__ == "__main__":
    main()

"""Signatures of dl-core's operators that torch's stable ABI can pass, found by a compiled probe."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

NAMESPACE = "dl_stable_abi_probe"
# A kernel that takes any arguments and returns nothing; torch converts them before the call.
PROBE = """
#include <torch/csrc/stable/library.h>
static void take(StableIValue*, uint64_t, uint64_t) {}
STABLE_TORCH_LIBRARY(%(namespace)s, library) {
%(definitions)s
}
STABLE_TORCH_LIBRARY_IMPL(%(namespace)s, CompositeExplicitAutograd, library) {
%(implementations)s
}
"""
_ALIAS = re.compile(r"\([a-z!|> *-]+\)")
_ARGUMENT = re.compile(r"(?:^|, )((?:Tensor|[A-Za-z]\w*)(?:\[\d*\]|\?)*) \w+")


def types_in(schema: str) -> set[str]:
    """Return the types of a schema's arguments, such as ``Tensor?`` or ``int[]``."""
    inner = _ALIAS.sub("", schema).partition("(")[2].rpartition(") -> ")[0]
    return {re.sub(r"\[\d+\]", "[]", each) for each in _ARGUMENT.findall(inner.replace("*, ", ""))}


def registered_schemas() -> dict[str, str]:
    """Start the device; return the schemas of the operators that dl-core registers, by name.

    torch must not be imported yet, because its import would start the device.
    """
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    import torch

    import dl_core

    listed: Any = torch._C._dispatch_get_registrations_for_dispatch_key
    before = set(listed("PrivateUse1"))
    dl_core.init()
    found = {}
    for name in sorted(set(listed("PrivateUse1")) - before):
        namespace, _, rest = name.partition("::")
        operator, _, overload = rest.partition(".")
        packet = getattr(getattr(torch.ops, namespace), operator)
        found[name] = str(getattr(packet, overload or "default")._schema)
    return found


def unsupported_types(types: set[str]) -> set[str]:
    """Return the types that torch cannot pass to a kernel of the stable ABI."""
    import torch

    names = {kind: f"take_{index}" for index, kind in enumerate(sorted(types))}
    define = '  library.def("{}({} x) -> ()");'
    implement = '  library.impl("{}", &take);'
    source = PROBE % {
        "namespace": NAMESPACE,
        "definitions": "\n".join(define.format(name, kind) for kind, name in names.items()),
        "implementations": "\n".join(implement.format(name) for name in names.values()),
    }
    with tempfile.TemporaryDirectory() as folder:
        torch.ops.load_library(str(_compile(source, Path(folder))))
    lacking = set()
    for kind, name in names.items():
        try:
            getattr(getattr(torch.ops, NAMESPACE), name)(_value(kind))
        except RuntimeError as error:
            if "StableIValue" not in str(error):
                raise
            lacking.add(kind)
    return lacking


def _compile(source: str, folder: Path) -> Path:
    from torch.utils.cpp_extension import include_paths, library_paths

    file, library = folder / "probe.cpp", folder / "probe.so"
    file.write_text(source, encoding="utf-8")
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-shared", "-fPIC", str(file)]
    command += [part for path in include_paths() for part in ("-isystem", path)]
    command += ["-o", str(library), *(f"-L{path}" for path in library_paths())]
    subprocess.run([*command, "-ltorch_cpu", "-lc10"], check=True)
    return library


def _value(kind: str) -> object:
    """Return a value of a type of schemas."""
    import torch

    if kind.endswith("?"):
        return _value(kind[:-1])
    if kind.endswith("[]"):
        return [_value(kind[:-2])]
    values: dict[str, object] = {
        "Tensor": torch.ones(2),
        **dict.fromkeys(("int", "SymInt"), 1),
        "float": 1.5,
        "Scalar": 1.5,
        "bool": True,
        "complex": 1j,
        "str": "text",
        "Dimname": "N",
        "ScalarType": torch.float32,
        "Layout": torch.strided,
        "Device": torch.device("cpu"),
        "MemoryFormat": torch.contiguous_format,
        "Generator": torch.default_generator,
        "Storage": torch.ones(2).untyped_storage(),
        "Stream": torch.Stream("dl"),
    }
    return values[kind]


def table() -> str:
    """Return the number of operators that the stable ABI can register, and what stops others."""
    schemas = registered_schemas()
    types = {name: types_in(schema) for name, schema in schemas.items()}
    lacking = unsupported_types(set().union(*types.values()))
    stopped: Counter[str] = Counter()
    for found in types.values():
        stopped.update({kind.rstrip("?[]") for kind in found & lacking})
    import torch

    passed = sum(not found & lacking for found in types.values())
    lines = [
        f"torch {torch.__version__}: of {len(schemas)} operators that dl-core registers,"
        f" the stable ABI can pass the arguments of {passed}.",
        *(f"- `{kind}`: {count} cannot be registered" for kind, count in stopped.most_common()),
    ]
    return "\n".join(lines)

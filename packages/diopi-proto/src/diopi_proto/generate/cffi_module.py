"""The cffi declarations and the module that is compiled from them.

cffi has no preprocessor. This module interprets the few directives of the headers in ``dl/``: their
includes, include guards, ``#ifdef __cplusplus`` and integer constants.
"""

from __future__ import annotations

import ast
import contextlib
import io
import operator
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from cffi import FFI

from diopi_proto.generate.model import NOTICE, Function, Schema, declaration
from diopi_proto.schema import Operator

MODULE = "diopi_proto._ffi_gen"

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DIRECTIVE = re.compile(r"#\s*(\w+)\s*(.*)")
_CODE = ("context.h", "dtype.h", "extension.h", "format.h", "operator.h")
"""Headers with inline code for vendors; their declarations are in other headers."""
_CONSTANT = re.compile(r"(\w+)\s+(.+)")
_NOT_DECLARATIONS = re.compile(
    r"\b(DL_EXTERN_C_BEGIN|DL_EXTERN_C_END|DL_EXPORT|DIOPI_VISIBILITY)\b"
)
_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.LShift: operator.lshift,
    ast.BitOr: operator.or_,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
}


class _Headers:
    """Declarations and integer constants of headers; each header is read once."""

    def __init__(self, include: Path, given: dict[str, str]) -> None:
        self._include = include
        self._given = given
        self._seen: set[str] = set()
        self.constants: dict[str, int] = {}
        self.declarations: list[str] = []

    def read(self, name: str) -> None:
        if name in self._seen:
            return
        self._seen.add(name)
        text = self._given.get(name)
        if text is None:
            text = (self._include / name).read_text(encoding="utf-8")
        self.read_text(name, text)

    def read_text(self, name: str, text: str) -> None:
        """Collect the declarations in the text of a header; includes are looked up in the include
        folder."""
        text = _COMMENT.sub("", text).replace("\\\n", " ")
        defined: set[str] = set()
        active = [True]
        for line in text.splitlines():
            directive = _DIRECTIVE.match(line.strip())
            if directive is None:
                if all(active) and (line := _NOT_DECLARATIONS.sub("", line).rstrip()):
                    self.declarations.append(line)
                continue
            word, rest = directive.groups()
            if word in ("ifdef", "ifndef"):
                active.append((rest.split()[0] in defined) == (word == "ifdef"))
            elif word == "if":
                raise ValueError(
                    f"{name}: #if {rest} is not supported by this reader; use #ifdef or #ifndef"
                )
            elif word == "else":
                active[-1] = not active[-1]
            elif word == "endif":
                active.pop()
            elif all(active) and word == "define":
                defined.add(re.split(r"\W", rest, maxsplit=1)[0])
                self._define(rest)
            elif all(active) and word == "include" and rest.startswith('"'):
                self.read(rest.strip('"'))

    def lines(self) -> list[str]:
        """Return the collected declarations and constants for cffi."""
        defined = [f"#define {name} {value}" for name, value in self.constants.items()]
        return [*defined, *self.declarations]

    def forget(self) -> None:
        """Drop the collected declarations; headers that have been read are not read again."""
        self.constants.clear()
        self.declarations.clear()

    def _define(self, text: str) -> None:
        match = _CONSTANT.fullmatch(text.strip())
        if match is None:
            return
        value = _integer(match[2])
        if value is not None:
            self.constants[match[1]] = value


def _integer(expression: str) -> int | None:
    """Return the value of an integer constant expression, or None for other text."""
    text = re.sub(r"U?INT(?:8|16|32|64)_C\((\w+)\)", r"\1", expression)
    text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
    try:
        return _evaluate(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError):
        return None


def _evaluate(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_evaluate(node.left), _evaluate(node.right))
    raise ValueError("not an integer constant")


def _pointer(function: Operator) -> str:
    params = ", ".join(f"{p.type} {p.name}" for p in function.params)
    return f"typedef {function.returns} (*{function.name}_fn)({params});"


def declarations(schema: Schema, include: Path, generated: dict[str, str]) -> str:
    """Return the C declarations for cffi: types, the structs of ``dl/``, functions, their pointers.

    :param include: folder that contains ``dl/``.
    :param generated: headers by name that take precedence over files.
    """
    headers = _contract_headers(include, generated)
    functions: list[Function | Operator] = [
        *schema.runtime,
        *schema.vendor_functions,
        *schema.operators,
    ]
    lines = headers.lines()
    lines.append("diopiContextHandle_t diopirt_set_current_context(diopiContextHandle_t ctx);")
    lines += [f"{declaration(function)};" for function in functions]
    lines += map(_pointer, schema.operators)
    return "\n".join(lines)


def _contract_headers(include: Path, generated: dict[str, str]) -> _Headers:
    headers = _Headers(include, generated)
    headers.read("diopi/types.gen.h")
    for path in sorted((include / "dl").glob("*.h")):
        if path.name not in _CODE:
            headers.read(f"dl/{path.name}")
    return headers


def _builder(module: str, declared: str) -> FFI:
    builder = FFI()
    builder.set_source(module, None)
    builder.cdef(declared)
    return builder


def cffi_module(schema: Schema, include: Path, generated: dict[str, str]) -> str:
    """Return the text of ``_ffi_gen.py``, an out-of-line module in ABI mode."""
    return _module_text(_builder(MODULE, declarations(schema, include, generated)), NOTICE)


def linux_module() -> str:
    """Return the text of ``worker/_linux_gen.py``: system calls that Python does not offer."""
    declared = "int prctl(int option, ...);"
    return _module_text(_builder("diopi_proto.worker._linux_gen", declared), NOTICE)


def cffi_module_over_contract(module: str, include: Path, header: Path, notice: str) -> str:
    """Return the text of a cffi module that declares another C interface based on the contract's.

    The module shares the contract's types with ``diopi_proto._ffi_gen``, which it imports.

    :param module: dotted name of the module.
    :param include: the contract's include folder.
    :param header: the header of the other interface, inside an include folder of its own.
    :param notice: how the module was generated.
    """
    headers = _contract_headers(include, {})
    builder = FFI()
    builder.set_source(module, None)
    builder.include(_builder(MODULE, "\n".join(headers.lines())))
    headers.forget()
    headers.read_text(header.name, header.read_text(encoding="utf-8"))
    builder.cdef("\n".join(headers.lines()))
    return _module_text(builder, notice)


def _module_text(builder: FFI, notice: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "_ffi_gen.py"
        with contextlib.redirect_stdout(io.StringIO()):  # cffi prints the path of its output
            builder.emit_python_code(str(path))
        text = path.read_text(encoding="utf-8")
    body = text.split("\n", 1)[1] if text.startswith("# auto-generated") else text
    return f"# {notice}\n# ruff: noqa\n# mypy: ignore-errors\n{body}"

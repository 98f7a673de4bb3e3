"""Generated files, and the check that they are up to date."""

from __future__ import annotations

from pathlib import Path

from diopi_proto.generate.cffi_module import cffi_module, linux_module
from diopi_proto.generate.headers import headers
from diopi_proto.generate.json_schema import json_schema
from diopi_proto.generate.read import read_schema
from diopi_proto.generate.reference import reference


def generate(root: Path) -> dict[str, str]:
    """Return the text of every generated file by its path below ``root``; write nothing."""
    schema = read_schema(root / "schema")
    include = headers(schema)
    files = {f"include/{name}": text for name, text in include.items()}
    files["src/diopi_proto/_schema_gen.json"] = json_schema(schema)
    files["src/diopi_proto/_ffi_gen.py"] = cffi_module(schema, root / "include", include)
    files["src/diopi_proto/worker/_linux_gen.py"] = linux_module()
    files["docs/operators.md"] = reference(schema)
    return files


def stale(root: Path, texts: dict[str, str]) -> list[str]:
    """Return the files that are missing or differ from ``texts``."""

    def current(name: str) -> str | None:
        path = root / name
        return path.read_text(encoding="utf-8") if path.is_file() else None

    return [name for name, text in texts.items() if current(name) != text]

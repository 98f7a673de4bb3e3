"""Helpers for tests of bundles: capture a program, and forge files."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from dl_optools.bundle import Bundle, find, payload, read
from dl_optools.capture.capture import OpCapture

ACCELERATOR = torch.accelerator.current_accelerator()
HAS_DL = ACCELERATOR is not None and ACCELERATOR.type == "dl"


def capture(program: Callable[[], Any], directory: Path, **options: Any) -> OpCapture:
    """Run a program under a capture into a directory."""
    options.setdefault("device", "cpu")
    tool = OpCapture(directory=directory, stream=io.StringIO(), **options)
    with tool:
        program()
    return tool


def bundles(directory: Path, operator: str | None = None) -> list[Bundle]:
    found = [read(path) for path in find(directory)]
    return [x for x in found if operator is None or x.document.operator == operator]


def captured(program: Callable[[], Any], directory: Path, **options: Any) -> list[Bundle]:
    capture(program, directory, **options)
    return bundles(directory)


def files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


def forge(bundle: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a bundle's JSON and update its hash."""
    path = bundle / "bundle.json"
    document = json.loads(path.read_text())
    change(document)
    rehash(path, document)


def rehash(path: Path, document: dict[str, Any]) -> None:
    document["content_hash"] = "0" * 64
    text = json.dumps(document)
    digest = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(text.replace("0" * 64, digest, 1))


def store_bytes(directory: Path, data: bytes) -> str:
    """Add a payload to a capture's store; return its hash."""
    digest = hashlib.sha256(data).hexdigest()
    payload.write(directory / payload.STORE, digest, memoryview(data))
    return digest

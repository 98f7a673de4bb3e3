"""``python -m op_tools.import_captures DIR``: convert captures of ditorch to bundles.

ditorch pickles arguments and results. They are read with ``weights_only=True``, so that a file
cannot run code; values that this mode rejects make a capture unreadable. Gradients are not
imported: ditorch stores gradients of the last autograd node, not of the function's inputs.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from dl_optools import OpCapture
from dl_optools.levels import through_tools
from dl_optools.names import Level
from dl_optools.operators import operator
from dl_optools.outputs import ResultsError

INPUT, OUTPUT = "input.pth", "output.pth"
_DEVICE = re.compile(r"(?:cuda|dipu|mlu|npu|privateuseone|supa|xpu)(?::\d+)?")
"""Names of devices that ditorch supports."""


class CaptureError(ValueError):
    """A capture cannot be imported; the message says why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Convert every capture below a directory; return 0, 1 if some failed, 2 if there are none."""
    parser = argparse.ArgumentParser(
        prog="op_tools.import_captures", description="Convert captures of ditorch to bundles."
    )
    parser.add_argument("dir", type=Path, help=f"directory that contains {INPUT} files")
    parser.add_argument(
        "-o", "--output", type=Path, help="output directory (default: as for OpCapture)"
    )
    given = parser.parse_args(arguments)
    captures = sorted(path.parent for path in given.dir.rglob(INPUT))
    if not captures:
        sys.stderr.write(f"{given.dir}: no {INPUT} found\n")
        return 2
    tool = OpCapture(device="cpu", ops=".*", exclude=(), directory=given.output)
    tool.prepare()
    failed = 0
    for directory in captures:
        try:
            _import(tool, directory)
        except CaptureError as error:
            failed += 1
            sys.stderr.write(f"{directory}: {error}\n")
    try:
        tool.complete()
    except ResultsError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 1 if failed else 0


def _import(tool: OpCapture, directory: Path) -> None:
    """Let the tool capture a call that returns the recorded result."""
    given, returned = (_load(directory / name) for name in (INPUT, OUTPUT))
    name, args, kwargs = given["name"], tuple(given["args"]), dict(given["kwargs"] or {})
    try:
        operator(name, Level.API)
    except ValueError as error:
        raise CaptureError(str(error)) from None
    args, kwargs = _on_host(args), _on_host(kwargs)
    (result,) = _on_host(tuple(returned["args"]))

    def recorded(*args: Any, **kwargs: Any) -> Any:
        return result

    before = tool.results.dropped.total() if tool.results is not None else 0
    through_tools(name, Level.API, recorded, args, kwargs, (tool,))
    if tool.results is not None and tool.results.dropped.total() > before:
        raise CaptureError(", ".join(tool.results.dropped))


def _load(path: Path) -> dict[str, Any]:
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # noqa: BLE001 - whatever a damaged file causes
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise CaptureError(f"{path.name} cannot be read with weights_only=True: {reason}") from None
    if not isinstance(found, dict) or not {"name", "args", "kwargs"} <= found.keys():
        raise CaptureError(f"{path.name} is not a capture of ditorch")
    return found


def _on_host(value: Any) -> Any:
    """Replace devices by the CPU, where the tensors are now, and detach tensors of a graph."""
    if isinstance(value, torch.Tensor):
        return value if value.is_leaf else value.detach()
    if isinstance(value, torch.device) or (isinstance(value, str) and _DEVICE.fullmatch(value)):
        return torch.device("cpu")
    if type(value) in (list, tuple):
        return type(value)(map(_on_host, value))
    if isinstance(value, dict):
        return {key: _on_host(each) for key, each in value.items()}
    return value


if __name__ == "__main__":
    sys.exit(main())

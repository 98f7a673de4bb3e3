"""``dl replay`` and ``dl bundle``."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dl_core.commands import Command
from dl_core.tables import show

if TYPE_CHECKING:
    from dl_optools.bundle import Bundle
    from dl_optools.bundle.document import Document
    from dl_optools.replay.check import CheckResult

REFUSED = 2
"""Exit code where a bundle cannot be used."""


def _configure_replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, help="a bundle, or a directory with bundles in it")
    parser.add_argument("--device", help="where to run; default: the accelerator, or the CPU")
    parser.add_argument(
        "--check", action="store_true", help="compare with the recorded results and with float64"
    )
    parser.add_argument("--time", action="store_true", help="measure forward and backward")
    parser.add_argument("--repeat", type=_positive, default=10, metavar="N", help="runs to time")
    parser.add_argument("--forward-only", action="store_true", help="leave the backward out")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not a number from 1 on")
    return value


def _replay(arguments: argparse.Namespace) -> int:
    from dl_optools.tool import device_under_test

    return replay_all(
        arguments.bundle,
        arguments.device or device_under_test(),
        check=arguments.check,
        repeat=arguments.repeat if arguments.time else 0,
        backward=not arguments.forward_only,
    )


def replay_all(
    path: Path,
    device: str,
    *,
    check: bool,
    repeat: int,
    backward: bool,
    synchronize: bool = True,
) -> int:
    """Replay every bundle at or below a path and print a table.

    :param repeat: runs to time; 0: none.
    :returns: 0; 1 if a result is wrong or a call raises; 2 if a bundle is refused.
    """
    from dl_optools.bundle import BundleError, find, read
    from dl_optools.compare.tolerance_options import ComparisonOptions
    from dl_optools.options import OptionError
    from dl_optools.replay import check as checking
    from dl_optools.replay.run import measure, run
    from dl_optools.tool import check_device

    rows: list[tuple[str, ...]] = []
    reports: list[str] = []
    code = 0
    found = find(path)
    if not found:
        return _refuse(f"{path}: there is no bundle there")
    try:
        check_device(device.partition(":")[0], "dl replay")
        options = ComparisonOptions(os.environ) if check else None
    except (OptionError, ValueError) as error:
        return _refuse(str(error))
    places = _places(found, path)
    for directory in found:
        try:
            bundle = read(directory)
            row = [places[directory], bundle.document.operator]
            if check:
                outcome = checking.check(bundle, device, backward=backward, options=options)
                row += _verdict(outcome)
                reports += _report(places[directory], bundle, outcome)
                code = max(code, 0 if outcome.ok else 1)
            if repeat:
                times = measure(
                    bundle, device, repeat=repeat, backward=backward, synchronize=synchronize
                )
                row += [_microseconds(times.forward), _microseconds(times.backward)]
            if not check and not repeat:
                results = run(bundle, device, backward=backward).results
                row.append(", ".join(f"{_dtype(x.dtype)}{list(x.shape)}" for x in results))
        except BundleError as error:
            code = _refuse(str(error))
            continue
        except (RuntimeError, TypeError, ValueError, NotImplementedError, IndexError) as error:
            reports.append(f"{directory}: it raises {type(error).__name__}: {error}")
            code = max(code, 1)
            continue
        rows.append(tuple(row))
    headers = ["call", "operator"]
    headers += ["verdict", "here", "recorded"] if check else []
    headers += ["forward us", "backward us"] if repeat else []
    headers += ["results"] if not check and not repeat else []
    if rows:
        show(headers, rows)
    for report in reports:
        sys.stdout.write(f"{report}\n")
    return code


def _places(found: list[Path], path: Path) -> dict[Path, str]:
    """What tells bundles apart: numbers of calls, or where several runs share a folder, paths."""
    if len({each.name for each in found}) == len(found):
        return {each: each.name for each in found}
    return {each: str(each.relative_to(path)) for each in found}


def _verdict(outcome: CheckResult) -> list[str]:
    return [
        "ok" if outcome.ok else "WRONG",
        _units([part.here for part in outcome.parts]),
        _units([part.recorded for part in outcome.parts]),
    ]


def _units(values: list[float]) -> str:
    """The largest error in units of what is allowed; a dash where nothing was compared."""
    known = [value for value in values if value == value]
    return f"{max(known):.3g}" if known else "-"


def _report(place: str, bundle: Bundle, outcome: CheckResult) -> list[str]:
    details = [part.detail for part in outcome.parts if part.detail]
    if not details and not outcome.notes:
        return []
    return [f"{place} {bundle.document.operator}", *_indented(outcome.notes + details)]


def _indented(texts: list[str]) -> list[str]:
    return ["  " + line for text in texts for line in text.splitlines()]


def _microseconds(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1e6:.1f}" if seconds else "-"


def _dtype(dtype: object) -> str:
    return str(dtype).removeprefix("torch.")


def _refuse(text: str) -> int:
    sys.stderr.write(f"dl: {text}\n")
    return REFUSED


def _configure_bundle(parser: argparse.ArgumentParser) -> None:
    parsers = parser.add_subparsers(metavar="what", required=True)
    for name, text, work, target in (
        ("show", "say what a bundle holds; it is verified first", _show, ""),
        ("to-repro", "write a stand-alone script that runs the call", _to_repro, "SCRIPT"),
        ("to-bench", "write a stand-alone script that times the call", _to_bench, "SCRIPT"),
        ("pack", "copy one bundle into a directory of its own", _pack, "DIRECTORY"),
    ):
        one = parsers.add_parser(name, help=text, description=text)
        one.add_argument("bundle", type=Path)
        if target:
            one.add_argument("output", type=Path, metavar=target)
        one.set_defaults(work=work)


def _bundle(arguments: argparse.Namespace) -> int:
    from dl_optools.bundle import BundleError, find, read

    found = find(arguments.bundle)
    if not found:
        return _refuse(f"{arguments.bundle}: there is no bundle there")
    if len(found) > 1 and arguments.work is not _show:
        return _refuse(f"{arguments.bundle} holds {len(found)} bundles; name one of them")
    work: Callable[[Bundle, argparse.Namespace], None] = arguments.work
    code = 0
    for directory in found:
        try:
            work(read(directory), arguments)
        except BundleError as error:
            code = _refuse(str(error))
    return code


def _show(bundle: Bundle, arguments: argparse.Namespace) -> None:
    document = bundle.document
    program = document.program
    out = sys.stdout.write
    out(f"{document.operator} (level {document.level.value}), captured on {document.device}\n")
    out(f"  content {document.content_hash}\n")
    if document.schema:
        out(f"  schema  {document.schema}\n")
    if program["module"] or program["parent"]:
        names = [f"module {program['module']}" if program["module"] else "", program["parent"]]
        out(f"  called by {_printable(', '.join(filter(None, names)))}\n")
    for frame in program["stack"]:
        place = f"{frame['file']}:{frame['line']} in {frame['function']}: {frame['code']}"
        out(f"  at {_printable(place)}\n")
    out(f"  with {_printable(', '.join(f'{k} {v}' for k, v in document.software.items()))}\n")
    if document.rng:
        out(f"  draws random numbers on {', '.join(document.rng)}\n")
    if document.error is not None:
        out(f"  it raised {_printable(document.error)}\n")
    roles = {index: f"input {at}" for at, index in enumerate(document.inputs)}
    roles |= {result.tensor: f"result {at}" for at, result in enumerate(document.results)}
    if document.gradients is not None:
        for kind, side in (
            ("gradient of result", document.gradients.outputs),
            ("gradient of input", document.gradients.inputs),
        ):
            roles |= {index: f"{kind} {at}" for at, index in enumerate(side) if index is not None}
    out(f"  call    {_printable(_spelled(document, roles))}\n")
    rows = []
    for index, role in sorted(roles.items()):
        tensor = document.tensors[index]
        place = "" if tensor.storage is None else f"storage {tensor.storage} + {tensor.offset}"
        stride = tensor.layout if tensor.stride is None else str(list(tensor.stride))
        rows.append((role, tensor.dtype, str(list(tensor.shape)), stride, tensor.device, place))
    if rows:
        show(("tensor", "dtype", "shape", "strides", "device", "place"), rows)


class _Role(str):
    """Text that shows without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _spelled(document: Document, roles: Mapping[int, str]) -> str:
    """The call, with the roles of tensors in their places."""
    from dl_optools.bundle.values import DeviceRef, GeneratorRef, TensorRef, substitute

    def leaf(value: object) -> object:
        if isinstance(value, TensorRef):
            return _Role(roles.get(value.index, f"tensor {value.index}"))
        if isinstance(value, DeviceRef):
            return _Role(f"device {value.name}")
        if isinstance(value, GeneratorRef):
            return _Role(f"generator of {value.device.name} with seed {value.seed}")
        return value

    args, kwargs = substitute((document.args, document.kwargs), leaf)
    parts = [*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())]
    return f"{document.operator}({', '.join(parts)})"


def _printable(text: str) -> str:
    """Texts of a file must not steer the terminal."""
    return "".join(x if x.isprintable() else "?" for x in text)


def _to_repro(bundle: Bundle, arguments: argparse.Namespace) -> None:
    from dl_optools.replay.export import to_repro

    to_repro(bundle, arguments.output)


def _to_bench(bundle: Bundle, arguments: argparse.Namespace) -> None:
    from dl_optools.replay.export import to_bench

    to_bench(bundle, arguments.output)


def _pack(bundle: Bundle, arguments: argparse.Namespace) -> None:
    from dl_optools.replay.export import pack

    pack(bundle, arguments.output)


REPLAY = Command("replay", "run captured operator calls again", _configure_replay, _replay)
BUNDLE = Command(
    "bundle", "look at captured operator calls, export them", _configure_bundle, _bundle
)

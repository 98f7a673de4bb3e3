"""``dl replay``: run captured calls again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from diopi_proto.text import printable
from dl_core.commands import Command
from dl_core.tables import show
from dl_optools.bundle.location import find
from dl_optools.isolation.options import add_limits, refuse, show_texts, worker_of
from dl_optools.isolation.worker import UnusableError
from dl_optools.option_types import count


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, help="a bundle, or a directory that contains bundles")
    parser.add_argument("--device", help="device to run on (default: the accelerator, or the CPU)")
    parser.add_argument(
        "--check", action="store_true", help="compare with the recorded results and with float64"
    )
    parser.add_argument("--time", action="store_true", help="measure forward and backward")
    parser.add_argument(
        "--repeat", type=count, default=10, metavar="N", help="number of timed runs (default: 10)"
    )
    parser.add_argument("--forward-only", action="store_true", help="skip the backward pass")
    add_limits(parser)


def _run(arguments: argparse.Namespace) -> int:
    return replay_all(
        arguments,
        device=arguments.device or "",
        check=arguments.check,
        repeat=arguments.repeat if arguments.time else 0,
        backward=not arguments.forward_only,
    )


def replay_all(
    arguments: argparse.Namespace,
    *,
    device: str,
    check: bool,
    repeat: int,
    backward: bool,
    synchronize: bool = True,
    each: bool = False,
) -> int:
    """Replay every bundle at or below ``arguments.bundle`` and print a table.

    :param arguments: parsed arguments, including those of :func:`.isolation.options.add_limits`.
    :param device: ``""``: the accelerator, or else the CPU.
    :param repeat: number of timed runs; 0: none.
    :param each: print a line for each run and each comparison below the table; no warm-up run.
    :returns: 0; 1 if a result is wrong, a call raises or ends its process; 2 if one is refused.
    """
    path: Path = arguments.bundle
    found = find(path)
    if not found:
        return refuse(f"{path}: no bundle found")
    places = _labels(found, path)
    options: dict[str, Any] = {
        "device": device,
        "checked": check,
        "repeat": repeat,
        "backward": backward,
        "synchronize": synchronize,
        "trusted": arguments.trusted,
        "each": each,
    }
    imports = ["dl_optools.replay.one"]
    if check:
        # Some torch functions import it at their first call, and it needs to write files.
        imports.append("torch._dynamo")
    worker = worker_of(arguments, device=device, name="dl replay", imports=imports)
    try:
        answers = [
            worker.ask("replay", str(directory), place=places[directory], **options)
            for directory in found
        ]
    except UnusableError as error:
        return refuse(str(error))
    finally:
        worker.close()
    headers = ["call", "operator"]
    headers += ["verdict", "here", "recorded"] if check else []
    headers += ["forward us", "backward us"] if repeat else []
    headers += ["results"] if not check and not repeat else []
    rows = [tuple(map(printable, row)) for answer in answers for row in answer.rows]
    if rows:
        show(headers, rows)
    return max([show_texts(answer) for answer in answers])


def _labels(found: list[Path], path: Path) -> dict[Path, str]:
    """Return a distinct label for each bundle: the call's number, or else a path."""
    if len({each.name for each in found}) == len(found):
        return {each: each.name for each in found}
    return {each: str(each.relative_to(path)) for each in found}


REPLAY = Command("replay", "run captured operator calls again", _configure, _run)

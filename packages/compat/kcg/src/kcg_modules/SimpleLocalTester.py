"""``SimpleLocalTester.py CONFIG RESULT START MAX CHECKTFLOPS SPEEDUP``: tune matrix products."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from diopi_proto.text import write_error, write_output
from dl_autotune import TuningError
from dl_autotune.spaces.deepgen import read_deepgen
from dl_autotune.strategies import STRATEGIES, Exhaustive, Strategy, make_strategy

from .errors import KcgError
from .files import write_json
from .gemm import describe, dialect
from .searching import Measured, Searcher, best

_KEPT = 10
"""Number of results in the file."""
_FINALISTS = 3


def main(words: Sequence[str] | None = None) -> int:
    """Run the command. Return 0 if a configuration was correct, 1 if none was, 2 for invalid
    arguments.
    """
    parser = argparse.ArgumentParser("SimpleLocalTester.py", description=__doc__)
    parser.add_argument(
        "config",
        type=Path,
        help="path of a JSON file with the values of each parameter, or name of a file that is "
        f"supplied: {', '.join(path.name for path in supplied())}",
    )
    parser.add_argument(
        "result", type=Path, help="path of the JSON file for the ten best configurations"
    )
    parser.add_argument("start", type=_count, help="index of the first configuration")
    parser.add_argument("max", type=_count, help="maximum number of configurations to measure")
    parser.add_argument(
        "checktflops",
        type=_flag,
        help="1: also stop when --target-tflops is reached (0: only speedup counts)",
    )
    parser.add_argument("speedup", type=float, help="stop when this speedup is reached (0: never)")
    parser.add_argument("opty", nargs="?", default="matmul", choices=["matmul"])
    parser.add_argument(
        "device", nargs="?", type=int, default=0, help="index of the dl device (default: 0)"
    )
    parser.add_argument("dtype", nargs="?", default="float32", choices=["float32"])
    parser.add_argument(
        "--target-tflops",
        type=float,
        default=0.0,
        metavar="T",
        help="TFLOPS at which to stop if CHECKTFLOPS is 1 (default: none)",
    )
    parser.add_argument(
        "--strategy",
        default="exhaustive",
        choices=STRATEGIES,
        help="search strategy (default: exhaustive, in the order of the indices)",
    )
    given = parser.parse_args(words)
    try:
        return _tune(given)
    except (TuningError, OSError) as error:
        write_error(f"{error}\n")
        return 2


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is less than 0")
    return number


def _flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise argparse.ArgumentTypeError(f"{text} is not 0 or 1; --target-tflops sets a threshold")
    return text == "1"


def supplied() -> list[Path]:
    """Return the configurations that the wheel contains, for products of common models."""
    return sorted(Path(__file__).with_name("TuningConfigs").glob("mm-*.json"))


def _find(config: Path) -> Path:
    """Return the path of a configuration, or of a supplied one if the file does not exist."""
    if config.exists():
        return config
    return next((path for path in supplied() if path.name == config.name), config)


def _tune(given: argparse.Namespace) -> int:
    target = given.target_tflops if given.checktflops else 0.0
    space = read_deepgen(_find(given.config))
    if given.start >= space.size:
        raise KcgError(f"[kcg] START {given.start} exceeds the {space.size} configurations")
    if given.strategy == "exhaustive":
        strategy: Strategy = Exhaustive(space, first=given.start)
    elif given.start:
        raise KcgError(f"[kcg] --strategy {given.strategy} has its own order: START has to be 0")
    else:
        strategy = make_strategy(given.strategy, space, seed=0)
    dialect(given.device)
    _say(f"{space.size} configurations on {describe(given.device)}")
    found: list[Measured] = []
    with Searcher(given.device) as searcher:
        for point, _, answer in searcher.search(space, strategy, given.max):
            if isinstance(answer, str):
                _say(f"No.{point}: failed: {answer}")
                continue
            found.append(answer)
            _say(
                f"No.{point}: {answer.milliseconds:.4f} ms, torch {answer.baseline:.4f} ms,"
                f" {answer.speedup:.3f} x, {answer.teraflops:.4f} TFLOPS, {answer.name}"
            )
            # Written after each trial, so that an interrupted search loses no measurement.
            _write(given.result, [], found)
            if 0 < given.speedup <= answer.speedup or 0 < target <= answer.teraflops:
                break
        again = searcher.again(best(found, _FINALISTS, given.device))
    _write(given.result, again, found)
    if not again:
        _say("no configuration ran with a correct result")
        return 1
    _say(f"best: {again[0].name}")
    _say(f"measured again, against torch.matmul: {again[0].verdict}")
    return 0


def _write(path: Path, again: Sequence[Measured], found: Sequence[Measured]) -> None:
    """Write the ten best configurations, beginning with those that were measured again."""
    names = {each.name for each in again}
    others = sorted((e for e in found if e.name not in names), key=lambda each: -each.speedup)
    rows = []
    for each in [*again, *others][:_KEPT]:
        row = {
            "name": each.name,
            "speedup": each.speedup,
            "time": each.milliseconds,
            "time_base": each.baseline,
        }
        if each.verdict is not None:
            row["verdict"] = each.verdict.verdict.value
            row["interval"] = [each.verdict.interval.low, each.verdict.interval.high]
        rows.append(row)
    write_json(path, {"testResult": rows})


def _say(line: str) -> None:
    write_output(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

"""Check each model in each mode; the package documents the checks."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from dl_optools.bisect.accuracy import calls_are_right
from dl_optools.bisect.bisection import Bisection
from dl_optools.bisect.program_runner import ProgramRunner
from dl_optools.bisect.runs import BisectError
from dl_optools.bisect.state import State
from dl_optools.bisect.verdict import Criteria
from dl_optools.one_iter.compare import StepComparison
from dl_optools.one_iter.recording import OneIter
from tools.clean_models.models import CASES, MODES, Training

PROGRAM = Path(__file__).with_name("program.py")
WAYS = ("free", "forced", "bisect")


def one_iter(name: str, mode: str, device: str, forced: bool, folder: Path) -> str:
    """Return the errors reported for a step on the device; empty if there are none."""
    training = Training(name, mode, "cpu")
    with OneIter(training.model, folder / "trusted", rank=0):
        training.step()
    # A different seed, because other devices generate different random numbers.
    training = Training(name, mode, device, seed=2)
    with OneIter(
        training.model,
        folder / "tested",
        rank=0,
        reference=folder / "trusted",
        teacher_forcing=forced,
    ) as one:
        training.step()
    found: StepComparison = one.comparison
    # If autocast chooses another dtype, a conversion is missing or additional.
    same_way = found.dtypes or not (found.missing or found.additional)
    if found.ok and same_way:
        return ""
    return found.text().strip()


def bisect(name: str, mode: str, device: str, folder: Path) -> str:
    """Return the operators that `dl bisect` reports for the loss; empty if there are none."""
    command = [sys.executable, str(PROGRAM), name, mode]
    criteria = Criteria(metric="loss").as_json()
    state = State(command, "dispatch", device, criteria, str(folder / "runs"))
    programs = ProgramRunner(command, "dispatch", device, dict(os.environ), 300)
    said: list[str] = []
    say: Callable[[str], object] = said.append
    bisection = Bisection(state, folder / "state.json", programs, say)
    try:
        found = bisection.find()
        bundles = bisection.capture()
    except BisectError as error:
        right = str(error).startswith("the unchanged program is not wrong")
        return "" if right else str(error)
    finally:
        programs.close()
    if bundles is not None and calls_are_right(bundles, device, os.environ):
        return ""
    return f"reported: {', '.join(found.elements)}\n{''.join(said)}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.clean_models", description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(CASES))
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument(
        "--resume",
        type=Path,
        metavar="FILE",
        help="file that records passed cases, which are skipped in the next run",
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.models) - set(CASES):
        parser.error(f"{', '.join(sorted(unknown))}: the models are {', '.join(CASES)}")
    found = torch.accelerator.current_accelerator()
    device = "cpu" if found is None else found.type
    known = passed(options.resume)
    failures = count = 0
    for name, mode, way in itertools.product(
        options.models or CASES, options.mode or MODES, options.way or WAYS
    ):
        case, count = f"{name} {mode} {way}", count + 1
        if case in known:
            sys.stdout.write(f"{case}: passed in an earlier run\n")
            continue
        with TemporaryDirectory(prefix="clean-models-") as folder:
            if way == "bisect":
                problem = bisect(name, mode, device, Path(folder))
            else:
                problem = one_iter(name, mode, device, way == "forced", Path(folder))
        failures += bool(problem)
        verdict = f"FALSE POSITIVE\n{problem}" if problem else "passed"
        sys.stdout.write(f"{case}: {verdict}\n")
        sys.stdout.flush()
        if not problem and options.resume is not None:
            with options.resume.open("a", encoding="utf-8") as file:
                file.write(case + "\n")
    sys.stdout.write(f"{failures} of {count} reported errors on a correct device ({device})\n")
    return 1 if failures else 0


def passed(file: Path | None) -> set[str]:
    """Return the cases that an earlier run of this command has recorded as passed."""
    if file is None or not file.exists():
        return set()
    return set(file.read_text(encoding="utf-8").splitlines())


if __name__ == "__main__":
    sys.exit(main())

"""Command line of the main job."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import torch

from . import report
from .cases import CASES, EXAMPLES
from .compare import evaluate, failures
from .runner import Runner, TrainJobError


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.train_job", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="run few steps, without checking the accuracy"
    )
    parser.add_argument("--resume", action="store_true", help="reuse the results of finished runs")
    parser.add_argument(
        "--only", choices=EXAMPLES, action="append", help="example to run (default: all)"
    )
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--output", type=Path, default=Path("build/train"))
    return parser.parse_args()


def main() -> int:
    args = parse_arguments()
    folder = args.output / ("quick" if args.quick else "full")
    folder.mkdir(parents=True, exist_ok=True)
    runner = Runner(folder, args.threads, args.quick, args.resume)
    cases = [case for case in CASES if not args.only or case.example in args.only]
    started = time.monotonic()
    results = []
    for number, case in enumerate(cases, start=1):
        print(f"\n[{number}/{len(cases)}] {case.name}", flush=True)
        try:
            results.append(evaluate(runner.measure(case)))
        except TrainJobError as error:
            print(error, file=sys.stderr)
            return 1
    header = {
        "device": results[0].measurement.operators["device_name"],
        "torch": torch.__version__,
        "threads": args.threads,
        "seconds": round(time.monotonic() - started),
    }
    report.write(results, folder, header)
    print(f"curves: {folder / 'curves.png'}, numbers: {folder / 'report.json'}")
    problems: list[str] = []
    float32 = {
        r.measurement.case.example: r for r in results if r.measurement.case.dtype == "float32"
    }
    for result in results:
        exact = float32.get(result.measurement.case.example)
        problems += failures(result, quick=args.quick, exact=exact if exact is not result else None)
    for text in problems:
        print(f"FAILED {text}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

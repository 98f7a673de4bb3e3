"""Search strategies on recorded spaces: the best configuration found, relative to the optimum.

python benchmarks/autotune.py [--spaces FOLDER ...] [--seeds N] [--strategies A,B] [--json FILE]
python benchmarks/autotune.py --claims N [--json FILE]
python benchmarks/autotune.py --operators [--only TEXT] [--seconds N] [--json FILE]
python benchmarks/autotune.py --overhead [ROUNDS] [--json FILE]

FOLDER has T4 files and Kernel Tuner's caches of spaces that were measured in full, such as those of
github.com/AutoTuningAssociation/benchmark_hub, or is "synthetic". The default is "synthetic" and
benchmarks/spaces, which _record_spaces.py has recorded. If kernel_tuner is installed, its
strategies run in the same replay, such as --strategies guided-climbing,kernel-tuner:hybrid_vndx

"transfer" is the default strategy after an earlier study of the same kernel on another device or
shape: the part of a space's name before "_" is its kernel. "transfer:inverted", "transfer:worst",
"transfer:random-labels" and "transfer:other-values" begin with misleading studies.

--claims tunes N kernels on the CPU, and counts the claimed speedups that another process confirms;
and N kernels whose candidates are all equal (A/A runs), where every claimed speedup is false.

--operators tunes operators of real models on the CPU, compares the choices with the
libraries' defaults, measures them again in another process, and prints what choosing costs.

--overhead tunes one C++ kernel by this tuner and by Kernel Tuner, alternately: evaluations per
minute.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import statistics
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from _synthetic_spaces import synthetic_spaces
from _transfer import ADVERSARIES, family, run_transfer
from _transfer import PREFIX as TRANSFER
from _tuning_claims import Tested, run_claim, summary
from _tuning_overhead import compare

from dl_autotune import SearchSpace, TuningError
from dl_autotune.runners.replay import fractions, replay
from dl_autotune.spaces.recorded import Recording, read_recording
from dl_autotune.strategies import DEFAULT, make_strategy

AFTER = (30, 60, 120)
BATCH = 4
PER_ROUND = 16
Rows = dict[str, dict[str, list[list[float]]]]
"""Fractions of the optimum after AFTER evaluations, by space, strategy and seed."""


def run_ours(recording: Recording, name: str, seeds: int) -> list[list[float]]:
    """Replay one strategy with each seed."""
    found = []
    for seed in range(seeds):
        strategy = make_strategy(name, recording.space, seed=seed, evaluations=AFTER[-1])
        points = replay(recording, strategy, AFTER[-1], BATCH)
        found.append(fractions(recording, points, AFTER))
    return found


@functools.cache
def read_spaces(folders: tuple[str, ...]) -> list[Recording]:
    """Read the recordings of folders.

    :raises TuningError: a folder has no recordings, or one cannot be read.
    """
    found: list[Recording] = []
    for folder in folders:
        if folder == "synthetic":
            found += synthetic_spaces()
            continue
        files = [*sorted(Path(folder).glob("*.json")), *sorted(Path(folder).glob("*.gz"))]
        if not files:
            raise TuningError(f"--spaces {folder} has no .json and no .gz files")
        found += map(read_recording, files)
    return found


def run_space(folders: Sequence[str], at: int, name: str, seeds: int) -> list[list[float]]:
    """Replay one strategy on one space, in a separate process, so that spaces run in parallel."""
    recordings = read_spaces(tuple(folders))
    recording = recordings[at]
    if not name.startswith(TRANSFER):
        return run_ours(recording, name, seeds)
    same = [
        r for r in recordings if family(r.name) == family(recording.name) and r is not recording
    ]
    return run_transfer(recording, name, same, seeds, AFTER, BATCH)


def means_text(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    """Format the means over seeds after each number of evaluations."""
    return " ".join(f"{value:.3f}" for value in values)


def gain_text(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    """Format differences of means."""
    return " ".join(f"{value:+.3f}" for value in values)


def report(rows: Rows) -> None:
    """Print the means over seeds for each space, over all spaces, and with each space left out."""
    names = list(dict.fromkeys(name for each in rows.values() for name in each))
    for space, each in rows.items():
        for name in names:
            if each.get(name):
                values = np.array(each[name])
                error = values.std(axis=0) / np.sqrt(len(values))
                print(
                    f"{space:24} {name:28} {means_text(values.mean(axis=0))}  ± {means_text(error)}"
                )
    print(f"\nmeans after {', '.join(map(str, AFTER))} evaluations, and the gain over {DEFAULT}")
    print("on the same spaces, with its minimum if any one space is left out")
    for name in names:
        spaces = [space for space, each in rows.items() if each.get(name)]
        means = np.array([np.mean(rows[space][name], axis=0) for space in spaces])
        line = f"{name:28} {len(spaces):3} spaces  {means_text(means.mean(axis=0))}"
        if name != DEFAULT and all(DEFAULT in rows[space] for space in spaces):
            usual = np.array([np.mean(rows[space][DEFAULT], axis=0) for space in spaces])
            gain = means - usual
            line += f"  gain {gain_text(gain.mean(axis=0))}"
            if len(spaces) > 1:
                left = [np.delete(gain, at, axis=0).mean(axis=0) for at in range(len(spaces))]
                line += f"  least {gain_text(np.min(left, axis=0))}"
        print(line)


def test_claims(count: int, file: Path) -> None:
    """Tune, and test the claims; results are written after each run."""
    known: dict[bool, list[Tested]] = {False: [], True: []}
    file.parent.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        # Alternately, so that both are measured under the same load.
        for same in (False, True):
            tested = run_claim(number, same=same)
            known[same].append(tested)
            interval = f"{tested.ratio:.3f} x [{tested.low:.3f}, {tested.high:.3f}]"
            rerun = "" if tested.rerun is None else f", again {tested.rerun:.3f}"
            held = {None: "", True: ", held", False: ", NOT HELD"}[tested.held]
            name = "A/A " if same else ""
            print(f"{name}{number}: {tested.verdict} {interval}{rerun}{held}", flush=True)
            file.write_text(json.dumps(summary(known[False], known[True]), indent=1))
    found = summary(known[False], known[True])
    print(f"reruns within the claimed interval: {found['held']} of {found['claims']}")
    print(f"claimed to be faster: {found['faster']} of {found['runs']}")
    print(f"A/A reruns within the claimed interval: {found['same_held']} of {found['same_claims']}")
    print(f"A/A runs with a winner: {found['false_wins']} of {found['same_runs']}")
    print(f"\n{file}")


def test_overhead(rounds: int, file: Path) -> None:
    """Print evaluations per minute of our tuner and Kernel Tuner, and the ratio of each round."""
    found = compare(rounds, PER_ROUND)
    ratios = [ours / theirs for ours, theirs in found]
    middle = statistics.median(ratios)
    print(f"evaluations per minute, relative to Kernel Tuner: {middle:.2f} x", end="")
    print(f" (median of {rounds} rounds, {min(ratios):.2f} to {max(ratios):.2f})")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"per_minute": found, "ratios": ratios}))
    print(f"\n{file}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    own = ["synthetic", str(Path(__file__).parent / "spaces")]
    parser.add_argument("--spaces", nargs="+", default=own, help="folders of recorded spaces")
    parser.add_argument("--seeds", type=int, default=25)
    names_of_most = "random,hill-climbing,guided-climbing,genetic,surrogate"
    parser.add_argument("--strategies", default=names_of_most)
    parser.add_argument("--jobs", type=int, default=1, help="number of spaces to tune at a time")
    parser.add_argument("--json", type=Path, default=Path("build/bench/autotune.json"))
    parser.add_argument("--claims", type=int, default=0, help="kernels to tune and measure again")
    parser.add_argument("--operators", action="store_true", help="tune operators of real models")
    parser.add_argument(
        "--only", default="", help="operators whose name contains this text (default: all)"
    )
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="search time per space in seconds"
    )
    parser.add_argument("--overhead", type=int, nargs="?", const=5, default=0, metavar="ROUNDS")
    arguments = parser.parse_args()
    if arguments.operators:
        from _tuned_operators import look_up, tune_operators

        rows = {"look_up": look_up(), "calls": tune_operators(arguments.seconds, 3, arguments.only)}
        file = arguments.json.with_stem(arguments.json.stem + "-operators")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(rows, indent=1))
        print(f"\n{file}")
        return
    if arguments.claims:
        test_claims(arguments.claims, arguments.json.with_stem(arguments.json.stem + "-claims"))
        return
    if arguments.overhead and not importlib.util.find_spec("kernel_tuner"):
        parser.error("this needs the package kernel_tuner: pip install kernel_tuner")
    if arguments.overhead:
        file = arguments.json.with_stem(arguments.json.stem + "-overhead")
        test_overhead(arguments.overhead, file)
        return
    names = arguments.strategies.split(",")
    try:
        for name in names:
            if name not in (TRANSFER, *ADVERSARIES):
                make_strategy(name, SearchSpace({"any": [1]}), seed=0)
        recordings = read_spaces(tuple(arguments.spaces))
    except TuningError as error:
        parser.error(str(error))
    rows: Rows = {each.name: {} for each in recordings}
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for name in names:
            work = [
                pool.submit(run_space, arguments.spaces, at, name, arguments.seeds)
                for at in range(len(recordings))
            ]
            for recording, each in zip(recordings, work, strict=True):
                rows[recording.name][name] = each.result()
            found = {"after": AFTER, "batch": BATCH, "seeds": arguments.seeds, "rows": rows}
            arguments.json.write_text(json.dumps(found))
            print(f"{name}: done", flush=True)
    report(rows)
    print(f"\n{arguments.json}")


if __name__ == "__main__":
    main()

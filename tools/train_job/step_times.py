"""Short trainings of the examples on two vendors, with their losses and step times compared.

    python -m tools.train_job.step_times VENDOR REFERENCE

It fails if the losses do not fall, or if those of the two vendors differ by more than the main job
allows without its runs with other roundings.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from .cases import EARLY_DISTANCE, EXAMPLES, Case
from .compare import distance, falling, median_step
from .operators import Share, native_share, operator_times
from .runner import Curve, Runner, TrainJobError

DTYPE = "float32"


@dataclass(frozen=True)
class Comparison:
    """The runs of one example.

    :ivar share: share of leaf operator calls in the vendor's code.
    """

    example: str
    vendor: Curve
    reference: Curve
    share: Share

    def problems(self) -> list[str]:
        """Describe what is wrong with the vendor's run."""
        found = [] if falling(self.vendor) else [f"{self.example}: the loss did not fall"]
        early, allowed = distance(self.vendor, self.reference).early, EARLY_DISTANCE[DTYPE]
        # The comparison is also False if a loss is not finite.
        if not early <= allowed:
            found.append(
                f"{self.example}: the losses differ by {early:.1e} (relative), "
                f"allowed: {allowed:.1e}"
            )
        return found

    def line(self, vendor: str, reference: str) -> str:
        """Format the figures as a line."""
        own, other = median_step(self.vendor), median_step(self.reference)
        early = distance(self.vendor, self.reference).early
        return (
            f"train_{self.example}: step {own * 1e3:.0f} ms on {vendor}, {other * 1e3:.0f} ms on "
            f"{reference}, ratio {own / other:.1f}; {self.share.by_calls:.1%} of "
            f"{self.share.calls} leaf operator calls native; losses differ by {early:.1e}"
        )


def compare(example: str, runner: Runner, reference: Runner) -> Comparison:
    """Train an example on both vendors, and once more on the first with operators counted."""
    case = Case(example, DTYPE, EXAMPLES[example])
    own, other = runner.train(case, "dl"), reference.train(case, "dl")
    counted = runner.count_operators(case)
    share = native_share(operator_times(counted["native"]), operator_times(counted["fallback"]))
    return Comparison(example, own, other, share)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.train_job.step_times", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("vendor", help="name of the vendor")
    parser.add_argument("reference", help="name of the vendor to compare with")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    runners = []
    for name in (args.vendor, args.reference):
        folder = Path("build/train") / name
        folder.mkdir(parents=True, exist_ok=True)
        runners.append(Runner(folder, args.threads, quick=True, resume=False, vendors=name))
    try:
        results = [compare(example, *runners) for example in EXAMPLES]
    except TrainJobError as error:
        print(error, file=sys.stderr)
        return 1
    for result in results:
        print(result.line(args.vendor, args.reference))
    problems = [problem for result in results for problem in result.problems()]
    for text in problems:
        print(f"FAILED {text}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

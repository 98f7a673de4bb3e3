"""Check of the tuner's claims: independent re-measurement, and A/A runs.

Another process, which took no part in tuning, tests a claim: the ratio that it measures must be in
the claimed interval. In A/A runs, all candidates are copies of the default under other names, so
that every claimed speedup is false.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from dl_autotune.observers import RaceSettings, Verdict
from dl_autotune.runners.compile_pool import CompilePool
from dl_autotune.runners.database import Database
from dl_autotune.runners.kernel_worker import Evaluate, KernelWorker, Rejected, Target
from dl_autotune.runners.tuner import Plan, Tuner
from dl_autotune.runners.worker import Worker
from dl_autotune.spaces.markers import substitute
from dl_autotune.strategies import Budget

EXAMPLE = Path(__file__).parents[1] / "examples" / "tune_gemm"
EVALUATIONS = 8
SIZES = (64, 96, 128, 160, 192, 256)
DEFAULT = {"TILE_M": 32, "TILE_N": 32, "TILE_K": 32, "ROWS": 4, "LANES": 8}
_DESCRIPTION = """
import runpy
from dataclasses import replace
from pathlib import Path
from dl_autotune import SearchSpace
here = Path(__file__).parent
kernel = runpy.run_path(str(here / "gemm.py"))["kernel"]
kernel = replace(kernel, source=here / "{source}", shape={shape}, {more})
"""


@dataclass(frozen=True)
class Tested:
    """A run and the test of its claim.

    :ivar rerun: the ratio in another process.
    :ivar held: True if the ratio is in the interval; None: there was no candidate, so nothing was
    claimed.
    """

    shape: dict[str, int]
    verdict: str
    ratio: float
    low: float
    high: float
    rerun: float | None
    held: bool | None


def _described(here: Path, shape: dict[str, int], same: bool) -> Path:
    """Write the description of a kernel to a folder; return its path."""
    for name in ("gemm.py", "gemm.cpp"):
        shutil.copy(EXAMPLE / name, here)
    source, more = "gemm.cpp", ""
    if same:
        text = substitute((here / "gemm.cpp").read_text(), DEFAULT)
        copies = "[[maybe_unused]] constexpr int COPY = 0;  // tunable\n"
        source = "same.cpp"
        (here / source).write_text(copies + text)
        more = (
            f"space=SearchSpace({{'COPY': range({EVALUATIONS + 1})}}), default={{'COPY': 0}}, "
            f"launch=lambda config, shape: kernel_launch({DEFAULT}, shape)"
        )
    file = here / "kernel.py"
    text = _DESCRIPTION.format(source=source, shape=shape, more=more)
    if same:
        text = text.replace(
            "\nkernel = replace", "\nkernel_launch = kernel.launch\nkernel = replace"
        )
    file.write_text(text)
    return file


def _rerun(tuner: Tuner, config: dict[str, object], seed: int) -> float | None:
    """Return the ratio in a new process; None if the process fails."""
    pool = CompilePool(tuner.target, 1)
    try:
        default, code = (pool.submit(c).result() for c in (tuner.kernel.default, config))
    finally:
        pool.close()
    assert not isinstance(default, Rejected)
    assert not isinstance(code, Rejected)
    request = Evaluate(config, code, tuner.kernel.default, default, tuner.plan.final_races, seed)
    with Worker(partial(KernelWorker, tuner.target)) as worker:
        race = worker.call(request, tuner.plan.evaluation_seconds)
    return None if isinstance(race, Rejected) else race.interval.ratio


def run_claim(number: int, *, same: bool) -> Tested:
    """Tune one kernel of a random shape, and test the claim."""
    rng = random.Random(number)
    shape = {axis: rng.choice(SIZES) for axis in "mnk"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = _described(folder, shape, same)
        database = Database(folder / "trials.sqlite")
        plan = Plan(Budget(EVALUATIONS), "random", search_races=RaceSettings(looks=(4, 8)))
        tuner = Tuner(Target(file, "cpu", seed=number), database, plan)
        tuned = tuner.run()
        database.close()
        claim, interval = tuned.claim, tuned.claim.interval
        rerun = held = None
        if tuned.config != tuner.kernel.default:
            rerun = _rerun(tuner, dict(tuned.config), 5000 + number)
            held = rerun is not None and rerun in interval
    return Tested(
        shape, claim.verdict.value, interval.ratio, interval.low, interval.high, rerun, held
    )


def summary(claims: list[Tested], same: list[Tested]) -> dict[str, object]:
    """Return the numbers of confirmed and false claims, and of all."""
    tested = [each for each in claims if each.held is not None]
    wrong = [each for each in same if each.verdict == Verdict.FASTER.value]
    return {
        "runs": len(claims),
        "claims": len(tested),
        "held": sum(bool(each.held) for each in tested),
        "faster": sum(each.verdict == Verdict.FASTER.value for each in claims),
        "same_runs": len(same),
        "same_claims": sum(each.held is not None for each in same),
        "same_held": sum(bool(each.held) for each in same),
        "false_wins": len(wrong),
        "rows": [asdict(each) for each in claims],
        "same_rows": [asdict(each) for each in same],
    }

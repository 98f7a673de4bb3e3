"""``run_op_from_data DIR``: ditorch's command that runs captured operators, for bundles."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from dl_optools.commands.replay import replay_all
from dl_optools.isolation.options import add_limits
from dl_optools.option_types import count


def _switch(parser: argparse.ArgumentParser, name: str, text: str) -> None:
    from dl_optools.options import flag

    # An option without a value is on; `--acc_check true` is the older spelling.
    parser.add_argument(name, nargs="?", const=True, default=False, type=flag, help=text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay every bundle below a directory.

    :returns: the exit code of :func:`.commands.replay.replay_all`.
    """
    parser = argparse.ArgumentParser(
        prog="run_op_from_data", description="Run operators with the data that op_capture wrote."
    )
    parser.add_argument("bundle", metavar="dir", type=Path, help="directory written by op_capture")
    parser.add_argument("--run_times", type=count, default=1, help="number of runs per operator")
    _switch(parser, "--only_run_forward", "skip the backward pass")
    _switch(parser, "--sync_time_measure", "time the runs, and wait for the device in each")
    _switch(parser, "--acc_check", "compare with the captured results and with float64 on the CPU")
    add_limits(parser, style="_")
    given = parser.parse_args(arguments)
    timed = given.sync_time_measure or given.run_times > 1
    return replay_all(
        given,
        device="",
        check=given.acc_check,
        repeat=max(given.run_times, 1) if timed else 0,
        backward=not given.only_run_forward,
        synchronize=given.sync_time_measure,
        each=True,
    )


if __name__ == "__main__":
    sys.exit(main())

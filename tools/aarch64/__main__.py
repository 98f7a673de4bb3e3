"""Run the session; ``python -m tools.aarch64 --help`` lists its options."""

from __future__ import annotations

import json
import os
import platform
import sys

from dl_conformance.commit_seed import commit_seed
from tools.projects import ROOT
from tools.record_benchmark import this_processor

from . import emulator, prerequisites
from .errors import SessionError
from .options import HOME, Options, parse
from .report import Report
from .root import PREFIX, SUITE, Root, run
from .session import Session

REPORT = HOME / "report.json"
INSIDE = "DL_AARCH64_INSIDE"
"""Variable of the process that has mounts of its own."""


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    if INSIDE not in os.environ:
        prerequisites.check()
        command = (*prerequisites.namespaces(), sys.executable, "-m", "tools.aarch64", *arguments)
        os.environ[INSIDE] = "1"
        os.execvp(command[0], command)
    root = Root(options.folder / "root", options.folder / "logs")
    root.logs.mkdir(parents=True, exist_ok=True)
    report = Report(say)
    emulator.register()
    Session(options, root, say).run(report)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report.as_dict(describe(options)), indent=1)
    REPORT.write_text(text + "\n", encoding="utf-8")
    print(f"\nemulated aarch64 on {this_processor()}\n{report.table()}", flush=True)
    say(f"written: {REPORT.relative_to(ROOT)}")
    return 1 if report.failed else 0


def describe(options: Options) -> dict[str, object]:
    """Return what was run, and on what, for the report."""
    return {
        "commit": commit_seed(ROOT),
        "processor": this_processor(),
        "processors": os.cpu_count(),
        "kernel": platform.release(),
        "emulator": run("qemu-aarch64-static", "--version").splitlines()[0],
        "compiler": run(f"{PREFIX}g++", "--version").splitlines()[0],
        "debian": SUITE,
        "level": options.level,
        "families": options.families or "all",
        "seed": options.seed,
    }


def say(text: str) -> None:
    print(f"[aarch64] {text}", flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except SessionError as error:
        sys.exit(str(error))

"""Run a tenth of the conformance suite and the numeric tests on an instrumented library.

AddressSanitizer detects accesses outside tensors and blocks that a kernel allocates,
UndefinedBehaviorSanitizer undefined behavior. Findings are reported where they happen and fail the
run. The run also fails if the sanitizers miss one of three planted errors. Needs g++ and its
sanitizers; options are passed to pytest.
"""

from __future__ import annotations

import sys

from instrumented import ROOT, VENDOR, build

from tools.sanitizers import (
    FLAGS,
    SANITIZERS,
    UNDEFINED,
    check_that_mistakes_are_noticed,
    run,
)

OBJECTS = ROOT / "build/sanitize"

SAMPLE = "10/1"
"""Sample of the conformance suite."""
OWN = ("test_diopi_impl.py", "test_libraries.py", "test_library.py", "test_plugin.py")
"""Tests of how libraries are built and found."""


def main() -> int:
    check_that_mistakes_are_noticed(OBJECTS)
    library = str(build(OBJECTS, FLAGS, [SANITIZERS]))
    # A worker of the suite that a sanitizer ends counts as a failed case.
    ended = {"UBSAN_OPTIONS": f"{UNDEFINED}:halt_on_error=1"}
    chosen = ("--library", library, "--unguarded", "--sample", SAMPLE)
    failed, reports = run([sys.executable, "-m", "dl_conformance", *chosen], ended)
    print(reports)
    given = {"DL_TEST_LIBRARY": library, "DL_TEST_UNGUARDED": "1"}
    tests = VENDOR / "tests"
    ignored = [f"--ignore={tests / name}" for name in OWN]
    # Sanitizers write to the process's own standard error, which pytest must not capture.
    command = [sys.executable, "-m", "pytest", "--capture=sys", str(tests), *ignored]
    code, reports = run([*command, *sys.argv[1:]], given)
    print(reports)
    return failed or code or int(bool(reports))


if __name__ == "__main__":
    sys.exit(main())

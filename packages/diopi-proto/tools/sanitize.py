"""Run graphs, whole ones and mutated files of them, on a host library that watches itself.

`python -m fuzz graphs recorded_graphs`, and this package's tests of graphs: the library that reads,
verifies, plans and executes them is compiled with AddressSanitizer and
UndefinedBehaviorSanitizer, and so is the vendor whose operators the first kind calls. Options go to
pytest.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fuzz.instrumented import HOST_LIBRARY, VENDOR_FLAGS

from diopi_proto import include_dir
from diopi_proto.build import compile_library
from tools.sanitizers import (
    FLAGS,
    SANITIZERS,
    UNDEFINED,
    check_that_mistakes_are_noticed,
    run,
)

PACKAGE = Path(__file__).parents[1]
OBJECTS = PACKAGE.parents[1] / "build/sanitize-graphs"
TESTS = """
import sys, pytest
from fuzz.instrumented import use_host_library
assert use_host_library()
sys.exit(pytest.main(sys.argv[1:]))
"""


def main() -> int:
    check_that_mistakes_are_noticed(OBJECTS)
    sources = PACKAGE / "csrc"
    library = compile_library(
        OBJECTS / "libdl_host.so",
        [sources / "host.cpp", *sorted(sources.glob("*/*.cpp"))],
        exports=("dl_adaptor_*", "dl_checked_*", "dl_contract_*", "dl_trial"),
        include_dirs=[include_dir(), sources],
        compile_flags=FLAGS,
        link_flags=[SANITIZERS],
        build_dir=OBJECTS,
        check=False,
    )
    given = {
        HOST_LIBRARY: str(library),
        VENDOR_FLAGS: " ".join(FLAGS),
        "UBSAN_OPTIONS": f"{UNDEFINED}:halt_on_error=1",
    }
    tests = map(str, sorted((PACKAGE / "tests").glob("test_graph*.py")))
    tested, reports = run(
        [sys.executable, "-c", TESTS, "--capture=sys", *tests, *sys.argv[1:]], given
    )
    print(reports)
    kinds = ("graphs", "recorded_graphs")
    fuzzed, _ = run([sys.executable, "-m", "fuzz", *kinds], given)
    return tested or fuzzed or int(bool(reports))


if __name__ == "__main__":
    sys.exit(main())

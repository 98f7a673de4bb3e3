"""Run graphs, valid and mutated ones, on a library instrumented with sanitizers.

Runs `python -m fuzz graphs recorded_graphs` and this package's tests. The library that reads,
verifies, plans and executes graphs is compiled with AddressSanitizer and
UndefinedBehaviorSanitizer, as is the vendor for `graphs`. Options go to pytest.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fuzz.instrumented import GRAPH_LIBRARY, VENDOR_FLAGS

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
from fuzz.instrumented import use_graph_library
assert use_graph_library()
sys.exit(pytest.main(sys.argv[1:]))
"""


def main() -> int:
    check_that_mistakes_are_noticed(OBJECTS)
    library = compile_library(
        OBJECTS / "libdl_graph.so",
        sorted((PACKAGE / "csrc").glob("*.cpp")),
        exports=("dl_contract_*",),
        include_dirs=[PACKAGE / "include"],
        compile_flags=FLAGS,
        link_flags=[SANITIZERS],
        build_dir=OBJECTS,
        check=False,
    )
    given = {
        GRAPH_LIBRARY: str(library),
        VENDOR_FLAGS: " ".join(FLAGS),
        "UBSAN_OPTIONS": f"{UNDEFINED}:halt_on_error=1",
    }
    tests = map(str, sorted((PACKAGE / "tests").glob("test_*.py")))
    tested, reports = run(
        [sys.executable, "-c", TESTS, "--capture=sys", *tests, *sys.argv[1:]], given
    )
    print(reports)
    kinds = ("graphs", "recorded_graphs")
    fuzzed, _ = run([sys.executable, "-m", "fuzz", *kinds], given)
    return tested or fuzzed or int(bool(reports))


if __name__ == "__main__":
    sys.exit(main())

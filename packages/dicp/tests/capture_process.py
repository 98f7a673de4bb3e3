"""Cases of the engine ``capture``, run in a child process with the test vendor ``async``.

The process prints the failures of the named cases as JSON. On the vendor ``async`` a replay is one
item of a stream, as is a copy. Work that accesses memory outside its allocation fails.
"""

from __future__ import annotations

import json
import os
import sys

import capture_cases  # noqa: F401 - their cases register themselves
import capture_declined  # noqa: F401
import capture_inputs  # noqa: F401
from capture_kit import CASES, CHECKS, LIES, outcome

__all__ = ["CASES", "CHECKS", "LIES"]

if __name__ == "__main__":
    print(json.dumps({name: outcome(name) for name in sys.argv[1:]}))
    sys.stdout.flush()
    os._exit(0)  # torch's backward thread would crash when the interpreter exits

"""Cases of the engine ``capture`` in a process of their own, whose ``dl`` is the tests' vendor
async: prints as JSON what was wrong with each that is named.

There, one replay is one item of a stream, as a copy is one, and work that touches memory of
somebody else's fails.
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
    os._exit(0)  # torch's thread of a backward pass does not survive the interpreter's end

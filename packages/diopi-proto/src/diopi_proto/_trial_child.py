"""What the process of a trial runs. It sees the standard library and the folders that it is given
only, and imports no more than it takes to call ``libdl_host.so``.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Arguments: the library, libdiopirt or an empty one, the descriptor of the report, the process
    that waits, seconds, and libraries to load beforehand."""
    from ._ffi_gen import ffi
    from ._native import native

    library, runtime, report, waiting, seconds, *companions = sys.argv[1:]

    def text(value: str) -> object:
        kept.append(ffi.new("char[]", os.fsencode(value)))
        return kept[-1]

    kept: list[object] = []
    request = ffi.new("dl_trial_request_t*")
    request.library = text(library)
    request.legacy_runtime = text(runtime) if runtime else ffi.NULL
    paths = ffi.new("char*[]", [*map(text, companions), ffi.NULL])
    request.companions = ffi.cast("const char* const*", paths)
    request.report, request.waiting, request.seconds = int(report), int(waiting), float(seconds)
    native().dl_trial(request)
    # Nothing here has anything to tidy up.
    os._exit(0)

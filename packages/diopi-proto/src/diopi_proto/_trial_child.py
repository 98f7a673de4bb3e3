"""Main function of a trial's process, which calls ``libdl_host.so`` and imports nothing else.

Its import path has only the standard library and the folders that are passed to it.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run a trial.

    The arguments are the library, libdiopirt or an empty string, the vendor to which it adds
    operators or an empty string, the file descriptor of the report, the waiting process, the
    timeout in seconds, and libraries to load beforehand.
    """
    from ._ffi_gen import ffi
    from ._native import native

    library, runtime, added_to, report, waiting, seconds, *companions = sys.argv[1:]

    def text(value: str) -> object:
        kept.append(ffi.new("char[]", os.fsencode(value)))
        return kept[-1]

    kept: list[object] = []
    request = ffi.new("dl_trial_request_t*")
    request.library = text(library)
    request.legacy_runtime = text(runtime) if runtime else ffi.NULL
    request.added_to = text(added_to) if added_to else ffi.NULL
    paths = ffi.new("char*[]", [*map(text, companions), ffi.NULL])
    request.companions = ffi.cast("const char* const*", paths)
    request.report, request.waiting, request.seconds = int(report), int(waiting), float(seconds)
    native().dl_trial(request)
    # Skip destructors: there is nothing to clean up.
    os._exit(0)

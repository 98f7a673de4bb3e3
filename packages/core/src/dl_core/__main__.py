"""Entry point of the ``dl`` command."""

from __future__ import annotations

import sys

from dl_core.import_path import leave_current_folder


def main() -> int:
    """Run ``dl`` with the arguments of the process, and return the exit code."""
    # Call this before any import that the current folder could hijack.
    leave_current_folder()
    try:
        from dl_core.cli import main as run
        from dl_core.foreign_output import leave_output
    except KeyboardInterrupt:
        from diopi_proto.text import write_error

        write_error("dl: interrupted.\n")
        return 130
    try:
        return run()
    finally:
        leave_output()


if __name__ == "__main__":
    sys.exit(main())

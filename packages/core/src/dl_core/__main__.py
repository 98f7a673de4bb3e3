"""Where the ``dl`` command starts."""

from __future__ import annotations

import sys

from dl_core.import_path import leave_current_folder


def main() -> int:
    """Run ``dl`` with the arguments of the process, and return the exit code."""
    # Before anything is imported that could be found in the current folder.
    leave_current_folder()
    from dl_core.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())

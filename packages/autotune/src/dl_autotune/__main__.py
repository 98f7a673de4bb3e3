"""``python -m dl_autotune``, the same command as ``dl tune``."""

from __future__ import annotations

import argparse
import sys

from diopi_proto.text import write_error


def main() -> int:
    # The import takes a while, during which the user may press Ctrl-C.
    try:
        from .command import configure, run

        parser = argparse.ArgumentParser(prog="python -m dl_autotune")
        configure(parser)
    except KeyboardInterrupt:
        write_error("dl tune: stopped. Run it again\n")
        return 130
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())

"""``python -m dl_autotune``: what ``dl tune`` does."""

from __future__ import annotations

import argparse
import sys

from diopi_proto.text import write_error


def main() -> int:
    # It takes a while, in which a person may think better of it.
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

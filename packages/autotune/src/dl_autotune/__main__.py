"""``python -m dl_autotune``: what ``dl tune`` does."""

from __future__ import annotations

import argparse
import sys

from .command import configure, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m dl_autotune")
    configure(parser)
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())

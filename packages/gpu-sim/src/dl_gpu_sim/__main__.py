"""``python -m dl_gpu_sim``: the command ``dl gpu-sim`` without dl-core."""

from __future__ import annotations

import argparse
import sys

from .command import configure, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m dl_gpu_sim")
    configure(parser)
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())

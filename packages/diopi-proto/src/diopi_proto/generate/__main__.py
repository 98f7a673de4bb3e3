"""Command line: write the generated files, or check that they are up to date."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from diopi_proto.generate.files import generate, stale
from diopi_proto.generate.freeze import freeze

# The package's folder in the source tree, three above src/diopi_proto/generate/__main__.py.
ROOT = Path(__file__).resolve().parents[3]


def main(argv: list[str] | None = None) -> int:
    """Run the generator and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m diopi_proto.generate", description=__doc__)
    parser.add_argument(
        "--root",
        type=Path,
        default=ROOT,
        help="folder that contains schema/ (default: the source tree)",
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--check", action="store_true", help="write nothing; exit with status 1 if a file differs"
    )
    action.add_argument(
        "--freeze",
        action="store_true",
        help="also add the signatures of new operators to the frozen list",
    )
    arguments = parser.parse_args(argv)
    root: Path = arguments.root
    if not (root / "schema").is_dir():
        parser.error(f"{root} has no schema/; run from a source tree or pass --root")
    if arguments.freeze:
        added = freeze(root)
        print(f"{len(added)} signatures added")
        return 0
    texts = generate(root)
    differing = stale(root, texts)
    if arguments.check:
        for name in differing:
            print(f"{name} is out of date", file=sys.stderr)
        if differing:
            print("run: python -m diopi_proto.generate", file=sys.stderr)
        return 1 if differing else 0
    for name in differing:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[name], encoding="utf-8")
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""``python -m dl_conformance``: the suite without dl-core."""

from .command import main

if __name__ == "__main__":
    raise SystemExit(main())

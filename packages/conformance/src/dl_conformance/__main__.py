"""``python -m dl_conformance``: the suite where there is no dl-core."""

from .command import main

if __name__ == "__main__":
    raise SystemExit(main())

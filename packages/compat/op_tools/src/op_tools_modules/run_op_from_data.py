"""``python -m op_tools.run_op_from_data``: replay captured operators."""

from __future__ import annotations

import sys

from dl_optools.run_op_from_data import main

if __name__ == "__main__":
    sys.exit(main())

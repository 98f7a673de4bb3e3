"""``python -m op_tools.process_monitor``: memory of a process and of devices."""

from __future__ import annotations

import sys

from dl_optools.monitor.process_monitor import main

if __name__ == "__main__":
    sys.exit(main())

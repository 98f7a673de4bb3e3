"""Run one example with every operator call counted and timed: OUTPUT.json SCRIPT ARGUMENTS."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import torch


def main() -> None:
    output, script, *arguments = sys.argv[1:]
    dl = torch.get_device_module("dl")
    sys.argv = [script, *arguments]
    # As when the script is started directly: its folder is where it finds its own modules.
    sys.path.insert(0, str(Path(script).parent))
    with dl.profile_operators():
        runpy.run_path(script, run_name="__main__")
    record = {
        "device_name": dl.get_device_name(0),
        "native": dl.native_stats(),
        "fallback": dl.fallback_stats(),
    }
    Path(output).write_text(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()

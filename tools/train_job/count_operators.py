"""Run one example while counting and timing operator calls: OUTPUT.json SCRIPT ARGUMENTS."""

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
    # Like a direct start of the script: its folder is on the path.
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

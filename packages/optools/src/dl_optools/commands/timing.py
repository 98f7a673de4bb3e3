"""``dl monitor`` and ``dl roofline``: memory over time, and peak rates of a device."""

from __future__ import annotations

import argparse
import json
import sys

from diopi_proto.text import write_error, write_output
from dl_core.commands import Command
from dl_core.tables import show


def _configure_monitor(parser: argparse.ArgumentParser) -> None:
    from dl_optools.monitor.process_monitor import configure

    configure(parser)


def _monitor(arguments: argparse.Namespace) -> int:
    from dl_optools.monitor.process_monitor import run

    return run(arguments)


def _configure_roofline(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", help="device type (default: the accelerator, or cpu)")
    parser.add_argument("--dtypes", default="float32,bfloat16", help="dtypes of the products")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _roofline(arguments: argparse.Namespace) -> int:
    import torch

    from dl_optools.timing.results import rate_text
    from dl_optools.timing.roofline import measure_roofline
    from dl_optools.tool import check_device, device_under_test

    device = arguments.device or device_under_test()
    try:
        check_device(device, "dl roofline")
    except ValueError as error:
        write_error(f"{error}\n")
        return 2
    dtypes = [name.strip() for name in arguments.dtypes.split(",") if name.strip()]
    for name in dtypes:
        if not isinstance(getattr(torch, name, None), torch.dtype):
            write_error(f"[dl roofline] {name!r} is not a dtype of torch\n")
            return 2
    found = measure_roofline(device, dtypes)
    if arguments.json:
        sys.stdout.write(json.dumps(found.as_json(), indent=2) + "\n")
        return 0
    write_output(f"{found.device}\n")
    rows = [("copy", rate_text(found.bandwidth, 1, "B"))]
    rows += [(f"product, {x}", rate_text(rate, 1, "FLOP")) for x, rate in found.flops.items()]
    show(("what", "measured"), rows)
    return 0


MONITOR = Command(
    "monitor",
    "record the memory of a process and of the devices over time",
    _configure_monitor,
    _monitor,
)
ROOFLINE = Command("roofline", "measure the peak rates of a device", _configure_roofline, _roofline)

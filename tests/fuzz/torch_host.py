"""The same vendor under torch: loaded again, and used as a device."""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from .kind import Case, Kind, WrongError, check_shown
from .vendors import LIES, prepare


def begin(folder: Path, own: Path) -> Case:
    sys.path.insert(0, str(folder))
    os.environ.update({"DL_VENDORS": "stub", LIES: "0"})
    import torch

    from dl_core import _C

    if torch.dl.get_device_properties(0).vendor != "stub":
        raise WrongError("the vendor is not there")
    actions: tuple[Callable[[], object], ...] = (
        lambda: torch.empty(1 << 14, dtype=torch.uint8, device="dl"),
        lambda: torch.ones(3000, pin_memory=True),
        lambda: torch.ones(7, device="dl").relu().cpu(),
        lambda: torch.empty(1 << 40, dtype=torch.uint8, device="dl"),
        lambda: torch.dl.get_device_properties(0),
        lambda: torch.accelerator.get_memory_info(),
        lambda: torch.accelerator.synchronize(),
        lambda: _streams(torch),
        lambda: torch.dl.get_device_name(),
    )
    loaded = own / "again.so"

    def case(choose: random.Random) -> str:
        os.environ[LIES] = str(choose.randrange(1, 1 << 40))
        failed = 0
        if choose.random() < 0.5:
            loaded.unlink(missing_ok=True)
            # A copy: the loader returns the same library for the same file.
            shutil.copy(folder / "libstub.so", loaded)
            chosen: list[Callable[[], object]] = [
                lambda: _C.load_vendor(f"liar{choose.random()}", str(loaded), False)
            ]
        else:
            chosen = choose.choices(actions, k=4)
        for action in chosen:
            try:
                action()
            except RuntimeError as error:
                failed += 1
                for line in str(error).splitlines():
                    check_shown(line)
                if "\nProblems" in str(error):
                    raise WrongError("an error message forges a line of our output") from None
        os.environ[LIES] = "0"
        if torch.ones(3, device="dl").sum().item() != 3:
            raise WrongError("the device no longer works")
        return "failed in order" if failed else "worked"

    return case


def _streams(torch: object) -> None:
    stream = torch.Stream("dl")  # type: ignore[attr-defined]
    event = torch.Event("dl", enable_timing=True)  # type: ignore[attr-defined]
    event.record(stream)
    event.wait(stream)
    stream.query(), event.query(), stream.synchronize(), event.synchronize()


KIND = Kind("torch_host", 2500, begin, prepare, seconds=60, batch=320)

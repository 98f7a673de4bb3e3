"""The vendor of ``vendors.py`` in the child process of a trial, with invalid code addresses too."""

from __future__ import annotations

import os
import random
from pathlib import Path

from diopi_proto import DiopiError
from diopi_proto.trial import try_library

from .kind import Case, Kind, WrongError, check_shown
from .vendors import LIES, prepare


def begin(folder: Path, own: Path) -> Case:
    os.environ["FUZZ_TRIAL"] = "1"

    def case(choose: random.Random) -> str:
        os.environ[LIES] = str(choose.randrange(1, 1 << 40))
        trial = try_library(folder / "libstub.so", timeout=20)
        texts = [trial.problem, trial.name, trial.version, *trial.operators]
        texts += [text for device in trial.devices for text in (device.name, device.architecture)]
        for text in texts:
            check_shown(text)
        if trial.ok and len(trial.devices) != min(trial.device_count, 64):
            raise WrongError(
                f"device_count is {trial.device_count}, but {len(trial.devices)} devices are listed"
            )
        try:
            trial.check()
        except DiopiError:
            return "crashed" if trial.signal else "refused"
        return "accepted" if trial.ok else "refused without an error"

    return case


KIND = Kind("trials", 500, begin, prepare, batch=50)

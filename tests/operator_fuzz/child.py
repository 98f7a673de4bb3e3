"""Work of the processes that make calls, which :mod:`.runner` starts."""

from __future__ import annotations

import faulthandler
import resource
import warnings

import torch
from torch.testing._internal import common_utils
from torch.testing._internal.opinfo import core

from diopi_proto.worker.limits import lower_limit
from dl_torch_tests.opinfo.relocate import Relocation
from dl_torch_tests.opinfo.sweep import Arguments, run

from .calls import draw_call
from .causes import cause_of
from .judge import Difference, compare_devices
from .overflow import run_on_magnitudes, run_wide
from .targets import target_of

TOO_LARGE = "the result is larger than the memory of a session"
MEMORY = 6 << 30
"""Limit of data memory in bytes; a call that needs more runs out of memory on both devices."""


def prepare() -> None:
    """Make calls repeatable and cheap."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    # Torch formats the whole stack whenever it seeds an absent device.
    for module in (torch.cuda, torch.xpu, torch.mtia):
        if not module.is_available():
            module.manual_seed_all = lambda seed: None
    for module in (common_utils, core):
        module.extract_test_fn = lambda: None


Ending = tuple[str | None, str, str, str]
"""Ending of a call: its cause or outcome; for a difference also its kind, its text and the call."""


class Calls:
    """Handler of requests: an operator and the number of a call request the call's ending.

    :param device: ``cpu`` makes calls on the CPU alone, which shows whether a crash is torch's own.
    """

    def __init__(self, seed: str, device: str) -> None:
        lower_limit(resource.RLIMIT_DATA, MEMORY)
        faulthandler.enable()
        prepare()
        self._seed, self._device = seed, device
        self._name, self._samples = "", list[Arguments]()

    def __call__(self, request: tuple[str, int | None]) -> Ending:
        """Make a call; without a number, only the samples of the operator."""
        name, number = request
        target = target_of(name)
        if name != self._name:
            self._samples, self._name = target.samples(), name
        if number is None:
            return "", "", "", ""
        try:
            call = draw_call(target, self._samples, self._seed, number)
        except Exception as error:  # noqa: BLE001 - a change that does not suit the sample
            return f"not drawn: {type(error).__name__}", "", "", ""
        if self._device == "cpu":
            run(call.function, Relocation()(call.arguments))
            run_wide(call)
            run_on_magnitudes(call)
            return "", "", "", ""
        try:
            found = compare_devices(call, self._device)
        except RuntimeError as error:
            # The comparison would materialize an expanded result.
            if "can't allocate memory" not in str(error):
                raise
            return TOO_LARGE, "", "", ""
        if isinstance(found, Difference):
            return cause_of(found), found.kind, found.text[:600], call.text()
        return found, "", "", ""

"""Modes of ``torch.compile`` and settings of Inductor, as options of the backend ``dl``.

torch defines a mode as a set of Inductor's settings. Three of these settings have a counterpart
here; the others configure Inductor's code generators and have no effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

REPLAY = "triton.cudagraphs"
TUNE = "max_autotune"
FREEZE = "freezing"


def settings_of_mode(mode: str | None) -> Mapping[str, Any]:
    """Return the settings that a mode stands for.

    :raises ValueError: the mode is unknown.
    """
    if mode is None:
        return {}
    # Importing Inductor takes long, and graphs without a mode do not need it.
    from torch._inductor import list_mode_options

    modes: Mapping[str, Mapping[str, Any]] = list_mode_options()
    if mode not in modes:
        raise ValueError(f"[dl] mode must be one of {', '.join(modes)}, not {mode!r}")
    return modes[mode]


def with_global_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings together with those of ``torch._inductor.config`` that they do not have."""
    from torch._inductor import config

    return {
        REPLAY: config.triton.cudagraphs,
        TUNE: config.max_autotune,
        FREEZE: config.freezing,
        **settings,
    }


def options_for(settings: Mapping[str, Any], examples: Iterable[Any]) -> dict[str, Any]:
    """Return the options that correspond to settings, for the device of a graph's inputs.

    Device graphs reduce the overhead of launches if the vendor can capture them. Otherwise tuning
    selects kernels, which are used if they are measured to be faster.
    """
    chosen: dict[str, Any] = {}
    if settings.get(TUNE):
        chosen["engine"] = "codegen"
    if settings.get(REPLAY) and _captures(examples):
        chosen["engine"] = "capture"
    if settings.get(FREEZE):
        chosen["frozen"] = True
    return chosen


def _captures(examples: Iterable[Any]) -> bool:
    """Return True if the first dl device among the inputs, or else the current one, can capture."""
    from dl_core import _C
    from dl_dicp.engines.device_graph.recording import why_not

    devices = (x.device for x in examples if isinstance(x, torch.Tensor))
    current = torch.device("dl", _C.current_device())
    return not why_not(next((d for d in devices if d.type == "dl"), current))

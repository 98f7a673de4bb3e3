"""The module of ditorch: after ``import ditorch``, programs for CUDA run on the dl device."""

from __future__ import annotations

import os
import sys
import warnings

import torch

import dl_core
from dl_core.environment import environment
from dl_core.errors import ActivationError

__version__ = "0.1.0"

__all__ = ["arch", "framework"]

framework = ""
"""Name and version of what runs the program: ``dl_core:0.1.0``. Empty without a device."""
arch = ""
"""Name of the vendor of the first device. Empty without a device."""


def _start() -> None:
    global framework, arch
    try:
        dl_core.init()
    except ActivationError as error:
        if not torch.cuda.is_available():
            warnings.warn(
                f"ditorch: there is no dl device, and programs for CUDA do not run. {error}",
                RuntimeWarning,
                stacklevel=3,
            )
        return
    from dl_core.torch_backend import mock_cuda

    if environment().get("DITORCH_DISABLE_MOCK", "0").strip() in ("", "0"):
        mock_cuda.start_unless_disabled()
    framework = f"dl_core:{dl_core.__version__}"
    arch = torch.dl.get_device_properties(0).vendor  # type: ignore[attr-defined]
    sys.stdout.write(f"ditorch.framework: {framework} arch: {arch} pid: {os.getpid()}\n")


_start()

"""Start of the device and of CUDA mocking, at the import of :mod:`torch_dipu`."""

from __future__ import annotations

import warnings

import torch

import dl_core
from dl_core import _entry, config
from dl_core.environment import environment
from dl_core.errors import ActivationError


def start() -> bool:
    """Start the device; return True if CUDA is mocked.

    :raises ImportError: there is no dl device, for the reasons in the message.
    """
    try:
        dl_core.init()
    except ActivationError as error:
        raise ImportError(
            f"[torch_dipu] DIPU's scripts run on the dl device, and there is none. {error}",
            name="torch_dipu",
        ) from error
    from dl_core.torch_backend import DEVICE, mock_cuda

    from . import live_variables

    torch.Tensor.dipu = getattr(torch.Tensor, DEVICE)  # type: ignore[attr-defined]
    torch.Tensor.is_dipu = getattr(torch.Tensor, f"is_{DEVICE}")  # type: ignore[attr-defined]
    _apply_variables()
    live_variables.watch()
    return mock_cuda.start_unless_disabled("dipu")


def _apply_variables() -> None:
    """Apply variables that the script set after ``import torch``: DIPU reads them only now."""
    from dl_core.torch_backend import modes

    reported = () if _entry.outcome is None else _entry.outcome.problems
    for problem in modes.start(config.read(environment())):
        if problem not in reported:
            warnings.warn(f"torch_dipu: {problem}", RuntimeWarning, stacklevel=2)

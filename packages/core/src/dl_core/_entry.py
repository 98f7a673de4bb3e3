"""Entry points that start the ``dl`` device.

torch calls :func:`autoload` near the end of its own import, through the entry-point group
``torch.backends``. This module does not import torch at module level: if a program imported
``dl_core`` before torch, torch would find a partially imported ``dl_core``.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dl_core.startup import Outcome

_lock = threading.RLock()
_running = False
outcome: Outcome | None = None
"""Result of the last attempt; None before the first."""
_failed = False
"""True after an error of dl-core itself, which is reported once."""


def autoload() -> None:
    """Start the device if one is available. Never raises: every error becomes a warning.

    Other entry points of torch may call it as well; only the first call has an effect.
    """
    global _failed
    if outcome is not None or _failed:
        return
    try:
        found = _attempt()
        for problem in found.problems:
            _tell(problem)
        if not _is_worker():
            for message in found.unread:
                _tell(message)
        if found.absence:
            _explain_absence(found.absence)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - any exception would break `import torch`
        from dl_core.errors import describe_error

        _failed = True
        _tell(
            f"the dl device is off: dl-core failed with {describe_error(error)}. "
            f"Run `dl doctor` for details; TORCH_DEVICE_BACKEND_AUTOLOAD=0 disables dl-core."
        )


def register_distributed() -> None:
    """Register ``dicl`` with :mod:`torch.distributed`, which needs the device.

    torch 2.14 and later call it through the entry-point group ``torch.distributed.backends`` when
    a program names the backend and the import of torch has not registered it, as with
    ``TORCH_DEVICE_BACKEND_AUTOLOAD=0``.

    :raises dl_core.errors.ActivationError: the device cannot be registered.
    """
    activate("backend dicl of torch.distributed")


def activate(operation: str = "dl_core.init") -> None:
    """Start the device explicitly; see :func:`dl_core.init`.

    :param operation: what needs the device, for errors.
    """
    from dl_core.errors import ActivationError

    try:
        import torch  # noqa: F401 - with autoload, this import starts the device
    except ImportError as error:
        raise ActivationError(
            f"[{operation}] the dl device needs torch, which cannot be imported: {error}. "
            f"Install it: `pip install dl-core[torch]`."
        ) from error
    result = outcome if outcome is not None and outcome.active else _attempt()
    if not result.active:
        said = " ".join([*result.problems, *result.reasons])
        raise ActivationError(f"[{operation}] the dl device cannot be registered. {said}")


def _attempt() -> Outcome:
    global _running, outcome
    from dl_core.environment import environment
    from dl_core.startup import Outcome, start

    with _lock:
        # start() imports modules that import torch, and torch's import calls autoload again.
        if _running:
            return Outcome(False, ["The dl device is already being started."], [])
        _running = True
        try:
            outcome = start(environment())
        finally:
            _running = False
        return outcome


def _is_worker() -> bool:
    """Return True in a child process of multiprocessing, whose parent has issued the warnings."""
    module = sys.modules.get("multiprocessing.process")
    return module is not None and module.parent_process() is not None


def _explain_absence(message: str) -> None:
    """Tell a program why it has no device, when it asks for one if that is possible."""
    from dl_core import absence

    if not absence.explain(f"dl-core: {message}") and not _is_worker():
        _tell(message)


def _tell(message: str) -> None:
    import warnings

    from diopi_proto.text import printable

    message = printable(f"dl-core: {message}")
    try:
        warnings.warn(message, RuntimeWarning, stacklevel=3)
    except RuntimeWarning:
        # With `python -W error` a warning is an error, which would break `import torch`.
        import logging

        logging.getLogger("dl_core").warning(message)

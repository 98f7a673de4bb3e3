"""Entry point that starts tools in a program that does not import this package.

torch calls :func:`autoload` near the end of its own import, by the entry-point group
``torch.backends``. Without the variable ``DL_TOOLS`` it does nothing. This module imports no torch.
"""

from __future__ import annotations

import contextlib

from dl_optools.environment import environment

_asked = False


def autoload() -> None:
    """Start the tools that ``DL_TOOLS`` names once torch is imported. Never raises."""
    global _asked
    if _asked or not environment().get("DL_TOOLS", "").strip():
        return
    _asked = True
    try:
        from dl_optools.launching.when_imported import when_imported

        # Entry points of other wheels, which may run after this one, register devices.
        when_imported("torch", _start)
    except Exception as error:  # noqa: BLE001 - an exception from here would break `import torch`
        _report_failure(error)


def _start() -> None:
    try:
        from dl_optools.launching.autostart import start

        start(environment())
    except Exception as error:  # noqa: BLE001 - as above
        _report_failure(error)


def _report_failure(error: Exception) -> None:
    from dl_optools.launching.notes import note

    # If the message cannot be delivered, the program runs all the same.
    with contextlib.suppress(Exception):
        note(environment(), f"no tool runs: {type(error).__name__}: {error}")

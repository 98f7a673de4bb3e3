"""The core of the ``dl`` device: plugins, configuration and the ``dl`` command, without torch.

Only :mod:`dl_core.torch_backend` and the compiled ``dl_core._C`` need torch; torch itself activates
them through its autoload entry point.
"""

from __future__ import annotations

from ._version import __version__

__all__ = ["__version__", "hookimpl", "init"]


def init() -> None:
    """Register the ``dl`` device with torch if autoload has not.

    Needed only if ``TORCH_DEVICE_BACKEND_AUTOLOAD=0`` disables autoload, or to find out why the
    device is missing. Does nothing if the device is registered already. Imports torch.

    :raises dl_core.errors.ActivationError: torch is missing, or registration has failed; the
        message contains the reasons that ``dl doctor`` reports.
    """
    from dl_core._entry import activate

    activate()


def __getattr__(name: str) -> object:
    # Lazy: `import dl_core` must not import pluggy for users who only need the version.
    if name == "hookimpl":
        from dl_core.hookspecs import hookimpl

        return hookimpl
    raise AttributeError(f"module 'dl_core' has no attribute {name!r}")

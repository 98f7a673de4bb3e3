"""The core of the ``dl`` device: plugins, configuration and the ``dl`` command, without torch.

Only :mod:`dl_core.torch_backend` and the compiled ``dl_core._C`` need torch; torch itself activates
them through its autoload entry point.
"""

from __future__ import annotations

__all__ = ["__version__", "hookimpl", "init"]

__version__ = "0.1.0"


def init() -> None:
    """Register the ``dl`` device with torch, where autoload did not.

    Needed only where ``TORCH_DEVICE_BACKEND_AUTOLOAD=0`` turned autoload off, or to learn why the
    device is missing. Does nothing when the device is registered already. Imports torch.

    :raises dl_core.errors.ActivationError: there is no torch, or nothing could be registered; the
        message gives the reasons that ``dl doctor`` gives.
    """
    from dl_core._entry import activate

    activate()


def __getattr__(name: str) -> object:
    # Lazy: `import dl_core` must stay free of pluggy for everyone who only asks for the version.
    if name == "hookimpl":
        from dl_core.hookspecs import hookimpl

        return hookimpl
    raise AttributeError(f"module 'dl_core' has no attribute {name!r}")

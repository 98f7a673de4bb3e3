"""Every error that the torch-free part raises. All derive from :class:`DlError`."""

from __future__ import annotations

from diopi_proto.text import printable

_LONGEST = 1000


class DlError(Exception):
    """Base of the package's errors."""


class ActivationError(DlError, RuntimeError):
    """The ``dl`` device was asked for by hand and cannot be registered. The message says why."""


class OutputError(DlError):
    """A file cannot be written: it is there already, or its folder takes none."""


class PluginError(DlError):
    """A plugin gave something that its hook does not allow."""


class UntrustedError(PluginError):
    """Something of a plugin lies where others could have put it. The message names the place."""


class WrongResultError(DlError):
    """An operator's result is not what the CPU computes; see ``torch.dl.autocompare``."""


def said_by(error: BaseException) -> str:
    """The kind of a stranger's error and what it says, as the end of a sentence. Never raises, but
    for Ctrl-C: asking it for its text runs a stranger's code."""
    try:
        kind, text = type(error).__name__, " ".join(str(error).split())
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - whatever `__str__` raises
        return f"{BaseException.__repr__(error).partition('(')[0]}, which cannot be shown"
    return printable(f"{kind}: {text}" if text else kind, _LONGEST)

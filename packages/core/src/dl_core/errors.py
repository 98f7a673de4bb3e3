"""Errors of the torch-free part. All are subclasses of :class:`DlError`."""

from __future__ import annotations

from diopi_proto.text import printable

_LONGEST = 1000


class DlError(Exception):
    """Base of the package's errors."""


class ActivationError(DlError, RuntimeError):
    """The program requested the ``dl`` device, and it cannot be registered. The message
    says why."""


class OutputError(DlError):
    """A file cannot be written: it exists, or its folder is not writable."""


class PluginError(DlError):
    """A plugin returned a value that its hook does not allow."""


class UntrustedError(PluginError):
    """Other users can write to a file of a plugin. The message names the file."""


class WrongResultError(DlError):
    """The result of an operator differs from the CPU's; see ``torch.dl.autocompare``."""


def type_name(error: BaseException) -> str:
    """Return the name of an exception's type without running foreign code."""
    name: str = type.__dict__["__name__"].__get__(type(error))
    return printable(name, _LONGEST)


def describe_error(error: BaseException) -> str:
    """Return the type and message of a foreign exception, as the end of a sentence. Never raises
    except for Ctrl-C, although ``__str__`` is foreign code."""
    try:
        kind, text = type(error).__name__, " ".join(str(error).split())
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - whatever `__str__` raises
        return f"{type_name(error)}, which cannot be shown"
    return printable(f"{kind}: {text}" if text else kind, _LONGEST)

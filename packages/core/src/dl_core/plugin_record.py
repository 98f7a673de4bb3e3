"""Record of one plugin: where it comes from, and what happened to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pluggy

from diopi_proto.text import printable
from dl_core.errors import UntrustedError

Status = Literal["loaded", "partial", "failed", "shadowed", "disabled", "untrusted"]
Failure = tuple[Status, str, str]
"""Arguments of :meth:`PluginRecord.mark`."""


@dataclass
class PluginRecord:
    """An entry point of group ``dl`` and its status."""

    name: str
    """Name of the entry point."""
    distribution: str
    """Name of the wheel."""
    version: str
    """Version of the wheel."""
    module: str
    """Value of the entry point."""
    status: Status = "loaded"
    """``partial``: loaded, but some of its hooks are unknown, or it changed the process, which was
    undone; ``shadowed``: another wheel with the same name is used; ``untrusted``: other users can
    write to its files."""
    error: str = ""
    """Error message; empty if there is no error."""
    cure: str = ""
    """Remedy for the user."""
    milliseconds: float = 0.0
    """Import time in milliseconds, by which the plugin slows every ``import torch``."""

    @property
    def wheel(self) -> str:
        return f"{self.distribution} {self.version}"

    @property
    def reinstall(self) -> str:
        """Return the remedy for a broken library."""
        command = f"pip install --force-reinstall {self.distribution}"
        return f"If it is damaged, install it again: `{command}`."

    @property
    def problem(self) -> str | None:
        """Return one paragraph for the user, None if there is no error."""
        if not self.error:
            return None
        return f"plugin {self.name!r} of {self.wheel}: {self.error} {self.cure}"

    def mark(self, status: Status, error: str, cure: str) -> None:
        # The error may contain foreign text, or a path that does.
        self.status, self.error, self.cure = status, printable(error), cure


def describe_failure(record: PluginRecord, error: BaseException, doing: str, text: str) -> Failure:
    """Return status, message and remedy for an error of a plugin.

    :param doing: beginning of the sentence about the failed action.
    :param text: description of the error.
    """
    disabled = f"DL_DISABLE={record.name} leaves it out."
    if isinstance(error, pluggy.PluginValidationError):
        return (
            "failed",
            f"a hook does not fit this dl-core. {text}.",
            f"Upgrade both: `pip install -U dl-core {record.distribution}`.",
        )
    if isinstance(error, UntrustedError):
        remedy = f"Restrict the write permissions, or reinstall {record.distribution}; "
        return "untrusted", f"{text.removeprefix('UntrustedError: ')}.", remedy + disabled
    if isinstance(error, ImportError):
        what = doing or f"{record.module} cannot be imported."
        remedy = f"Install it again: `pip install --force-reinstall {record.distribution}`; "
        return "failed", f"{what} {text}.", remedy + disabled
    remedy = f"Upgrade it: `pip install -U {record.distribution}`; "
    return "failed", f"{doing} {text}.".lstrip(), remedy + disabled


def describe_hang(record: PluginRecord, what: str) -> Failure:
    """Return status, message and remedy for a plugin that hangs, crashes or ends the process.

    :param what: a sentence without the final period.
    """
    return (
        "failed",
        f"{what}.",
        f"Upgrade it: `pip install -U {record.distribution}`; DL_DISABLE={record.name} leaves "
        "it out, DL_PROBE_TIMEOUT allows more seconds.",
    )


def describe_changes(record: PluginRecord, changes: Sequence[str]) -> Failure:
    """Return status, message and remedy for a plugin that changes the process.

    :param changes: verb phrases, such as ``changes the current folder``.
    """
    return (
        "partial",
        f"it {' and '.join(changes)}, which was undone.",
        f"Upgrade it: `pip install -U {record.distribution}`; "
        f"DL_DISABLE={record.name} leaves it out.",
    )

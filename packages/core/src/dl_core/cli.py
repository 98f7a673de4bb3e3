"""The ``dl`` command: built-in subcommands and those of plugins."""

from __future__ import annotations

import argparse
import errno
import io
import os
import re
import signal
import sys
from collections.abc import Sequence

from diopi_proto.text import printable
from dl_core import first_party
from dl_core._version import __version__
from dl_core.commands import Command
from dl_core.commands_builtin import BUILTIN
from dl_core.errors import describe_error
from dl_core.foreign_output import output_to_errors
from dl_core.manager import PluginManager

INTERRUPTED = 128 + signal.SIGINT
_NAME = re.compile(r"[a-z0-9][\w-]*", re.ASCII)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``dl`` with the given arguments, by default those of the process.

    :returns: the exit code: 0, 1 if a check fails, 2 for invalid arguments, 130 after Ctrl-C.
    """
    try:
        return _main(arguments)
    except KeyboardInterrupt:
        _complain("interrupted.")
        return INTERRUPTED


def _main(arguments: Sequence[str] | None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Characters that the terminal cannot encode are escaped.
        sys.stdout.reconfigure(errors="backslashreplace")
    parser = argparse.ArgumentParser(prog="dl", description="Accelerators for PyTorch.")
    parser.add_argument("--version", action="version", version=f"dl-core {__version__}")
    subparsers = parser.add_subparsers(metavar="command", required=True)
    owners = [("dl-core", command) for command in BUILTIN]
    wanted = arguments[0] if arguments else ""
    if wanted not in [command.name for command in BUILTIN]:
        # The built-in commands must work whatever plugins do; `dl doctor` imports plugins itself.
        # Keep a command's own output separate from what plugins print.
        with output_to_errors():
            manager = _plugins()
            owners += _of_plugins(manager)
        missing = _missing(wanted, owners, manager)
        if missing:
            _complain(missing)
            return 2
        parser.epilog = _more(manager)
    taken: set[str] = set()
    for owner, command in owners:
        if command.name in taken:
            _complain(f"{owner} wants to add the command {command.name!r}, which already exists.")
            continue
        taken.add(command.name)
        # argparse treats a percent sign as the beginning of a field.
        help = command.help.replace("%", "%%")
        subparser = subparsers.add_parser(command.name, help=help, description=command.help)
        subparser.set_defaults(run=command.run)
        try:
            command.configure(subparser)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - other plugins must keep their commands
            said = describe_error(error)
            problem = f"{owner} cannot create its command {command.name!r}: {said}."
            _complain(problem)
            subparser.set_defaults(run=lambda _: 1)
    parsed = parser.parse_args(arguments)
    try:
        code = int(parsed.run(parsed))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has closed it, as `head` does.
        _write_no_more()
        return 1
    except OSError as error:
        # An error that names no file comes from the output.
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        _write_no_more()
        _complain(f"the output cannot be written: {error.strerror}.")
        return 1
    return code


def _write_no_more() -> None:
    """Discard buffered output, which Python would otherwise write at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _plugins() -> PluginManager:
    manager = PluginManager.of_environment(strict=True)
    manager.load()
    return manager


def _missing(wanted: str, owners: list[tuple[str, Command]], manager: PluginManager) -> str:
    """Return the message for a missing command that belongs to one of our wheels."""
    wheel = first_party.wheel_of(wanted)
    if wheel is None or wanted in [command.name for _, command in owners]:
        return ""
    record = next((x for x in manager.records if x.distribution == wheel), None)
    if record is None:
        return f"`dl {wanted}` comes with {wheel}, which is not installed: `pip install {wheel}`."
    if record.status == "disabled":
        return f"`dl {wanted}` comes with {wheel}, which DL_DISABLE leaves out."
    return (
        f"`dl {wanted}` comes with {record.wheel}, whose plugin does not provide it: "
        f"{record.error or 'it is another release'}"
    )


def _more(manager: PluginManager) -> str:
    """Return the end of the help text: commands of wheels that are not installed."""
    missing = first_party.not_installed(record.distribution for record in manager.records)
    return " ".join(
        f"{wheel.spelled} come with `pip install {name}`." for name, wheel in missing.items()
    )


def _of_plugins(manager: PluginManager) -> list[tuple[str, Command]]:
    found = []
    for record, commands in manager.call("dl_cli_commands"):
        for command in commands if isinstance(commands, Sequence) else [commands]:
            if isinstance(command, Command) and _is_whole(command):
                found.append((record.wheel, command))
            else:
                _complain(f"{record.wheel} gave something other than a Command as a command.")
    for problem in manager.problems:
        _complain(problem)
    return found


def _is_whole(command: Command) -> bool:
    return (
        isinstance(command.name, str)
        and _NAME.fullmatch(command.name) is not None
        and isinstance(command.help, str)
        and callable(command.configure)
        and callable(command.run)
    )


def _complain(text: str) -> None:
    sys.stderr.write(printable(f"dl: {text}") + "\n")


if __name__ == "__main__":
    sys.exit(main())

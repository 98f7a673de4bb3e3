"""The ``dl`` command: its own subcommands and those of plugins."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from dl_core import __version__, config
from dl_core.commands import Command
from dl_core.commands_builtin import BUILTIN
from dl_core.manager import PluginManager


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``dl`` with the given arguments, by default those of the process.

    :returns: the exit code: 0, 1 if something is broken, 2 for wrong arguments.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="dl", description="Accelerators for PyTorch.")
    parser.add_argument("--version", action="version", version=f"dl-core {__version__}")
    subparsers = parser.add_subparsers(metavar="command", required=True)
    owners = [("dl-core", command) for command in BUILTIN]
    if not arguments or arguments[0] not in [command.name for command in BUILTIN]:
        # The built-in commands must work whatever plugins do; `dl doctor` imports them itself.
        owners += _of_plugins()
    taken: set[str] = set()
    for owner, command in owners:
        if command.name in taken:
            _complain(f"{owner} wants to add the command {command.name!r}, which is taken.")
            continue
        taken.add(command.name)
        subparser = subparsers.add_parser(command.name, help=command.help, description=command.help)
        command.configure(subparser)
        subparser.set_defaults(run=command.run)
    parsed = parser.parse_args(arguments)
    return int(parsed.run(parsed))


def _of_plugins() -> list[tuple[str, Command]]:
    manager = PluginManager(config.read(os.environ).disable)
    manager.load()
    found = []
    for record, commands in manager.call("dl_cli_commands"):
        for command in commands if isinstance(commands, Sequence) else [commands]:
            if isinstance(command, Command):
                found.append((record.wheel, command))
            else:
                _complain(f"{record.wheel} gave {command!r} as a command; it must be a Command.")
    for problem in manager.problems:
        _complain(problem)
    return found


def _complain(text: str) -> None:
    sys.stderr.write(f"dl: {text}\n")


if __name__ == "__main__":
    sys.exit(main())

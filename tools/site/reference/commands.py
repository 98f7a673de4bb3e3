"""Pages of the ``dl`` commands, from their argument parsers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Any

from tools.site.reference.plugins import OwnedCommand, commands

FOLDER = "reference/commands"


class Commands:
    """One page for each command, and a list of all."""

    def nav(self) -> list[Any]:
        """Return the section with the pages."""
        pages = [f"{FOLDER}/{owned.command.name}.md" for owned in commands()]
        return [{"Commands": [f"{FOLDER}/index.md", *pages]}]

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the list and the pages."""
        found = commands()
        lines = ["# Commands", "", "| command | description | wheel |", "| --- | --- | --- |"]
        for owned in found:
            name = owned.command.name
            lines.append(
                f"| [`dl {name}`]({name}.md) | {cell(owned.command.help)} | {owned.wheel} |"
            )
        yield f"{FOLDER}/index.md", "\n".join(lines) + "\n"
        for owned in found:
            yield f"{FOLDER}/{owned.command.name}.md", command_page(owned)


def command_page(owned: OwnedCommand) -> str:
    """Return the page of a command and its subcommands."""
    command = owned.command
    parser = argparse.ArgumentParser(prog=f"dl {command.name}", description=command.help)
    command.configure(parser)
    origin = f"Part of the wheel `{owned.wheel}`."
    return f"# dl {command.name}\n\n{origin}\n\n" + "\n".join(_describe(parser, 2))


def _describe(parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    if parser.description:
        yield f"{_sentence(prose(_expanded(parser, parser.description)))}\n"
    # Without the option for help, which every command has.
    usage = " ".join(parser.format_usage().removeprefix("usage: ").replace("[-h] ", "").split())
    yield f"```text\n{usage}\n```\n"
    positional: list[argparse.Action] = []
    options: list[argparse.Action] = []
    nested: list[argparse._SubParsersAction[argparse.ArgumentParser]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            nested.append(action)
        elif action.help != argparse.SUPPRESS and action.dest != "help":
            (options if action.option_strings else positional).append(action)
    yield from _rows("argument", positional, parser)
    yield from _rows("option", options, parser)
    if parser.epilog:
        text = _expanded(parser, parser.epilog)
        # Lists are aligned for a terminal.
        yield f"```text\n{text.strip()}\n```\n" if "\n  " in text else f"{prose(text)}\n"
    for action in nested:
        helps = {choice.dest: choice.help for choice in action._choices_actions}
        for name, child in action.choices.items():
            if child.description is None and helps.get(name):
                child.description = helps[name]
            yield f"{'#' * level} {parser.prog} {name}\n"
            yield from _describe(child, level + 1)


def _rows(
    title: str, actions: list[argparse.Action], parser: argparse.ArgumentParser
) -> Iterator[str]:
    if not actions:
        return
    lines = [f"| {title} | description |", "| --- | --- |"]
    for action in actions:
        formatter = parser._get_formatter()
        if action.option_strings:
            name = ", ".join(action.option_strings)
            if action.nargs != 0:
                value = formatter._format_args(action, action.dest.upper())
                name = f"{name} {value}"
        else:
            name = formatter._format_action_invocation(action)
        text = formatter._expand_help(action) if action.help else ""
        lines.append(f"| `{cell(name)}` | {cell(text)} |")
    yield "\n".join(lines) + "\n"


def _expanded(parser: argparse.ArgumentParser, text: str) -> str:
    return text.replace("%(prog)s", parser.prog)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.rstrip().endswith((".", ":", "`")) else ".")


def cell(text: str) -> str:
    """Return a text as one cell of a table."""
    return prose(" ".join(text.split())).replace("|", "\\|")


def prose(text: str) -> str:
    """Return a text of reStructuredText's style as Markdown: literals, and angle brackets."""
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(x if x.startswith("`") else x.replace("<", "&lt;") for x in parts)

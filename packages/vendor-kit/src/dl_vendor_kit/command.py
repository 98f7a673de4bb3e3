"""The command ``dl new-vendor``."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from diopi_proto.text import write_error, write_output

from .project import KINDS, MEMORIES, ProjectError, create


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    add = parser.add_argument
    add("name", help="name of the vendor in DL_VENDORS: lower-case letters, digits and _")
    kinds = "; ".join(f"{name}: {kind.help}" for name, kind in KINDS.items())
    add("--kind", choices=KINDS, default="cpp", help=f"{kinds} (default: cpp)")
    memories = "; ".join(f"{name}: {help}" for name, help in MEMORIES.items())
    add("--memory", choices=MEMORIES, help=f"{memories} (default: the first that the kind has)")
    add(
        "--folder",
        type=Path,
        help="folder to create, which must not exist (default: dl-vendor-NAME)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Create the project; return 0, or 2 if a name or an option is invalid."""
    try:
        folder = create(
            arguments.name,
            kind=arguments.kind,
            memory=arguments.memory or KINDS[arguments.kind].memories[0],
            folder=arguments.folder,
        )
    except ProjectError as error:
        write_error(f"dl new-vendor: {error}\n")
        return 2
    name = arguments.name
    # Without a slash, pip would look for the name on an index.
    path = folder if folder.is_absolute() else f"./{folder}"
    write_output(
        f"created {folder}; its README.md has the next steps, and these try it:\n"
        f"  pip install {shlex.quote(str(path))}\n"
        f"  dl vendor check {name}\n"
        f"  dl conformance --vendor {name} --profile {name}\n"
        f"  DL_VENDORS={name} python {shlex.quote(str(folder / 'train.py'))}\n"
    )
    return 0

"""Install the packages in editable mode, rebuild what has changed, write compile_commands.json."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.build_wheels import BuildError
from tools.projects import in_build_order

from . import check_ide, compile_commands
from .editable import choose_projects, install


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/nox -s dev --", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="additional packages to install")
    parser.add_argument(
        "--check-ide",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="check that clangd opens these files without errors (default: a sample of each kind)",
    )
    options = parser.parse_args()
    try:
        projects = choose_projects(options.names, in_build_order())
    except ValueError as error:
        parser.error(str(error))
    try:
        install(projects)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    count = compile_commands.write(projects)
    print(f"{compile_commands.FILE.name}: {count} files")
    if options.check_ide is None:
        return 0
    try:
        return 1 if check_ide.check(options.check_ide) else 0
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

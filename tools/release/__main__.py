"""Check a release, or begin the next one.

`check` needs the wheels in dist/. It prints a line for each problem and exits with status 1 if
there is one. `bump VERSION` sets the version of all packages and assembles their change logs.
`core RELEASE=PYTHON` builds dl-core for another torch release or Python into build/core-wheels.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.build_wheels import DIST, BuildError
from tools.projects import ROOT, in_build_order
from tools.torch_matrix import core_wheel
from tools.torch_matrix.__main__ import HEADERS, environment_of
from tools.torch_matrix.environment import MatrixError

from . import declared, index, install, sbom, sdists, versions, wheels

HOME = ROOT / "build" / "release"
CORE_WHEELS = ROOT / "build" / "core-wheels"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check", help="check metadata, sdists, wheels and installation")
    checking.add_argument(
        "--sdists",
        nargs="*",
        metavar="NAME",
        help="projects whose sdist is built into a wheel; default: those that compile nothing",
    )
    checking.add_argument(
        "--complete", action="store_true", help="a project without a wheel in dist/ is a problem"
    )
    bumping = commands.add_parser("bump", help="set the version of all packages")
    bumping.add_argument("version")
    building = commands.add_parser("core", help="build dl-core for a torch release")
    building.add_argument(
        "environment",
        metavar="RELEASE=PYTHON",
        help="an interpreter with that torch and the build requirements",
    )
    arguments = parser.parse_args()
    if arguments.command == "core":
        return build_core(arguments.environment)
    projects = declared.declared(in_build_order())
    try:
        if arguments.command == "bump":
            written = versions.bump(projects, arguments.version)
            print(f"{len(written)} files written; the wheels must be built again")
            return 0
        found = check(projects, arguments.sdists, complete=arguments.complete)
    except declared.ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"{len(found)} problem{'' if len(found) == 1 else 's'}")
    return 1 if found else 0


def build_core(text: str) -> int:
    """Build dl-core with an interpreter's torch; return the exit status."""
    headers = [path for path in sorted(DIST.glob("*.whl")) if path.name.startswith(HEADERS)]
    try:
        environment = environment_of(text)
        folder = HOME / f"core-{environment.folder_name}"
        made = core_wheel.build(environment, folder, headers)
    except (MatrixError, BuildError) as error:
        print(error, file=sys.stderr)
        return 1
    CORE_WHEELS.mkdir(parents=True, exist_ok=True)
    say(str(Path(shutil.copy(made, CORE_WHEELS)).relative_to(ROOT)))
    return 0


def check(
    projects: list[declared.Declared], chosen: list[str] | None, *, complete: bool
) -> list[str]:
    """Make all checks; return the problems.

    :param chosen: the projects whose sdist is built into a wheel; None: those without C++.
    :param complete: a project without a wheel is a problem, and not left out: `build` makes none
        where a compiler of device code is missing.
    """
    names = {each.project.name for each in projects}
    if unknown := sorted(set(chosen or ()) - names):
        raise declared.ReleaseError(
            f"[release] {', '.join(unknown)}: no such project; use {', '.join(sorted(names))}"
        )
    HOME.mkdir(parents=True, exist_ok=True)
    found = declared.problems(projects)
    built = {
        each.project.name: file
        for each in projects
        for file in DIST.glob(f"{each.project.name.replace('-', '_')}-*.whl")
    }
    for name in sorted(names - built.keys()):
        if complete:
            found.append(f"{name}: no wheel in dist/; run tools/nox -s build where its compiler is")
        else:
            say(f"{name}: left out, because dist/ has no wheel of it")
    projects = [each for each in projects if each.project.name in built]
    say(f"{len(built)} wheels, {sum(x.stat().st_size for x in built.values()) / 1e6:.1f} MB")
    found += wheels.problems(list(built.values()))

    say("sdists")
    made = {each.project.name: sdists.build_sdist(each.project, HOME) for each in projects}
    found += wheels.twine_problems([*made.values(), *built.values()])
    plain = [each.project.name for each in projects if not each.project.compiles]
    for name in plain if chosen is None else chosen:
        say(f"{name}: a wheel from its sdist alone")
        found += of_sdist(name, made[name], built.get(name))

    say("installation by name")
    pages = HOME / "index"
    shutil.rmtree(pages, ignore_errors=True)
    index.write_pages([*built.values(), *made.values()], pages)
    with index.served(pages) as address:
        say(install.install_and_train(address, list(built.values()), HOME / "environment"))
    bill = sbom.write(HOME / "environment", HOME / "sbom.json")
    say(f"{bill} components in {(HOME / 'sbom.json').relative_to(ROOT)}")
    return found


def of_sdist(name: str, sdist: Path, repository: Path | None) -> Iterable[str]:
    """Yield how wheels of an sdist differ from each other and from that of the repository."""
    first = sdists.build_wheel(sdist, HOME / "first")
    second = sdists.build_wheel(sdist, HOME / "second")
    if first.read_bytes() != second.read_bytes():
        listed = ", ".join(sdists.differences(first, second)) or "order or times of files"
        yield f"{name}: two builds differ: {listed}"
    if repository is not None and repository.stem.endswith("-any"):
        for file in sdists.differences(first, repository):
            yield f"{name}: the wheel of the sdist differs from that of the repository: {file}"


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())

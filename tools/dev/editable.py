"""Editable installs: Python is imported from the source tree, and libraries are built into it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tools.build_wheels import OPTIONS, BuildError
from tools.projects import ROOT, Project, closure, normalize_name, own_requirements

CONSTRAINTS = ("--constraint", str(ROOT / "constraints.txt"))
OBJECTS = Path("build", "dev", "objects")
"""The folder of a package's objects, as ``build.ini`` names it."""
TOGETHER = "DL_BUILD_TOGETHER"


def choose_projects(names: Iterable[str], projects: Sequence[Project]) -> list[Project]:
    """Return the projects to install, in build order.

    These are the reference vendor, every package that compiles nothing, the named ones, and their
    requirements.

    :raises ValueError: a project does not exist.
    """
    usual = [
        project.name
        for project in projects
        if not project.test_only and (project.is_reference or not project.compiles)
    ]
    return closure([*usual, *names], projects)


def build_environment() -> dict[str, str]:
    """Return the environment of builds: one kernel family per unit, and objects that are kept."""
    config = Path(__file__).with_name("build.ini")
    return {TOGETHER: "1", **os.environ, "DIST_EXTRA_CONFIG": str(config)}


def install(projects: Sequence[Project]) -> None:
    """Install the projects that are not installed yet, and rebuild the libraries of installed ones.

    :raises BuildError: a package does not build.
    """
    record = Path(sys.prefix, "editable.json")
    installed: dict[str, str] = json.loads(record.read_text()) if record.exists() else {}
    stale = [x for x in projects if installed.get(x.name) != hash_metadata(x)]
    install_requirements(stale)
    names = {project.name for project in projects}
    built_with = {name for project in projects for name in own_requirements(project, names)}
    digests = hash_sources(projects)
    for project in projects:
        start = time.monotonic()
        if project in stale and (project.compiles or project.name in built_with):
            editable("--no-deps", projects=[project])
        elif project.compiles and not is_built(project, digests[project.name]):
            command = (sys.executable, "setup.py", "--quiet", "build_ext", "--inplace")
            run(*command, folder=project.folder)
        else:
            continue
        if project.compiles:
            stamp_of(project).parent.mkdir(parents=True, exist_ok=True)
            stamp_of(project).write_text(digests[project.name])
        print(f"{project.name}: {time.monotonic() - start:.0f} s", flush=True)
    # Last, because these need the projects above; pip installs their other requirements.
    if pure := [x for x in stale if not x.compiles and x.name not in built_with]:
        editable(projects=pure)
    for project in stale:
        installed[project.name] = hash_metadata(project)
    record.write_text(json.dumps(installed, indent=1))
    write_path_file(projects)


def write_path_file(projects: Iterable[Project]) -> None:
    """List the source folders for type checkers and editors, which ignore import hooks.

    setuptools installs such a hook if a package has folders outside ``src/``.
    """
    folders = [str(project.folder / "src") for project in projects]
    path = Path(sysconfig.get_path("purelib"), "dl_sources.pth")
    path.write_text("\n".join(folders) + "\n")


def install_requirements(projects: Iterable[Project]) -> None:
    """Install the build and run requirements of the projects, except the projects themselves."""
    projects = list(projects)
    every = {x for project in projects for x in (*project.build_requires, *project.requires)}
    foreign = sorted(x for x in every if not normalize_name(x).startswith("dl-"))
    if foreign:
        run(sys.executable, "-m", "pip", "install", "--quiet", *CONSTRAINTS, *foreign)


def editable(*options: str, projects: Iterable[Project]) -> None:
    """Install projects by pip, in editable mode."""
    folders = [word for project in projects for word in ("--editable", str(project.folder))]
    run(
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"),
        *(*CONSTRAINTS, "--no-build-isolation", *options, *folders),
    )


def run(*command: str, folder: Path = ROOT) -> None:
    """Run ``command`` with the environment of builds, and show its output only if it fails."""
    env = build_environment()
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"[dev] {' '.join(command)}\n{done.stdout}{done.stderr}")


def hash_metadata(project: Project) -> str:
    """Return a hash of the metadata in editable installs: name, version, entry points, commands."""
    state = hashlib.sha256()
    version = sorted(project.folder.glob("src/*/_version.py"))
    for path in (project.folder / "pyproject.toml", project.folder / "setup.py", *version):
        state.update(path.read_bytes() if path.exists() else b"")
    return state.hexdigest()


def hash_sources(projects: Sequence[Project]) -> dict[str, str]:
    """Return a hash of each project's sources, including its build requirements."""
    names = {project.name for project in projects}
    environment: Mapping[str, str] = build_environment()
    digests: dict[str, str] = {}
    for project in projects:
        variables = (*OPTIONS, TOGETHER, *project.build_variables)
        settings = [f"{name}={environment.get(name, '')}" for name in variables]
        needed = [digests[name] for name in own_requirements(project, names)]
        digests[project.name] = project.digest([sys.prefix, *settings, *needed])
    return digests


def stamp_of(project: Project) -> Path:
    """Return the file that records from which sources the libraries in the tree were built."""
    return project.folder / OBJECTS.parent / "digest"


def is_built(project: Project, digest: str) -> bool:
    """Return True if the libraries in the source tree were built from these sources."""
    stamp = stamp_of(project)
    return stamp.exists() and stamp.read_text() == digest

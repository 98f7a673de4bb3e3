"""Wheels of this repository: their build requirements and their sources."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib as tomllib  # for other modules, too
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
# Files left by builds and tools, or without influence on the wheel.
NOT_SOURCES = {"build", "dist", "tests", "__pycache__", "_build_info.py"}


def normalize_name(requirement: str) -> str:
    """Return the distribution name in ``requirement``, as PEP 503 spells it."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement.strip())
    if name is None:
        raise ValueError(f"[projects] '{requirement}' does not name a distribution")
    return re.sub(r"[-_.]+", "-", name.group()).lower()


@dataclass(frozen=True)
class Project:
    """One folder with a pyproject.toml; ``test_only`` ones are never released.

    The table ``tool.dl`` declares requirements that not every machine meets: ``device-compiler`` is
    a program, and ``found-by`` a function, as ``module:name``, that raises an error with the reason
    if it is missing. Then the wheel is skipped. Its setup.py reads ``build-variables``.
    ``reference`` is true for the vendor whose device every machine has.
    """

    name: str
    folder: Path
    build_requires: tuple[str, ...]
    requires: tuple[str, ...]
    test_only: bool
    device_compiler: str | None = None
    found_by: str | None = None
    build_variables: tuple[str, ...] = ()
    is_reference: bool = False

    @classmethod
    def read(cls, folder: Path, *, test_only: bool) -> Project:
        document = tomllib.loads((folder / "pyproject.toml").read_text())
        build_requires = tuple(document["build-system"]["requires"])
        project = document["project"]
        requires = tuple(project.get("dependencies", ()))
        options = document.get("tool", {}).get("dl", {})
        return cls(
            normalize_name(project["name"]),
            folder,
            build_requires,
            requires,
            test_only,
            options.get("device-compiler"),
            options.get("found-by"),
            tuple(options.get("build-variables", ())),
            options.get("reference", False),
        )

    @property
    def compiles(self) -> bool:
        """True if the wheel has libraries."""
        return (self.folder / "csrc").is_dir()

    def sources(self) -> Iterator[Path]:
        """Yield the source files of the wheel, in a fixed order."""
        for path in sorted(self.folder.rglob("*")):
            parts = path.relative_to(self.folder).parts
            ignored = any(
                part in NOT_SOURCES or part.startswith(".") or part.endswith(".egg-info")
                for part in parts
            )
            built = path.suffix == ".pyc" or ".so" in path.suffixes
            if path.is_file() and not ignored and not built:
                yield path

    def digest(self, foundations: Iterable[str]) -> str:
        """Return a hash of the sources and ``foundations``: everything that the wheel depends
        on."""
        state = hashlib.sha256()
        for text in (sys.version, *foundations):
            state.update(text.encode() + b"\0")
        for path in self.sources():
            state.update(str(path.relative_to(self.folder)).encode() + b"\0")
            state.update(hashlib.sha256(path.read_bytes()).digest())
        return state.hexdigest()


def in_build_order() -> list[Project]:
    """Return every project, after its build requirements."""
    found: dict[str, Project] = {}
    patterns = (
        ("packages/*", False),
        ("packages/compat/*", False),
        ("tests/plugins/*", True),
        ("examples/vendor-onefile", True),
    )
    for pattern, test_only in patterns:
        for folder in sorted(ROOT.glob(pattern)):
            if (folder / "pyproject.toml").exists():
                project = Project.read(folder, test_only=test_only)
                found[project.name] = project
    graph = {name: own_requirements(project, found) for name, project in found.items()}
    return [found[name] for name in TopologicalSorter(graph).static_order()]


def closure(names: Iterable[str], projects: Iterable[Project]) -> list[Project]:
    """Return the named projects with their build and run requirements, in build order.

    :raises ValueError: a project does not exist.
    """
    projects = list(projects)
    known = {project.name: project for project in projects}
    wanted: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in known:
            raise ValueError(f"[projects] {name!r} is not a project; use one of {', '.join(known)}")
        if name not in wanted:
            wanted.add(name)
            needed = {normalize_name(x) for x in known[name].requires} & set(known)
            pending += [*own_requirements(known[name], known), *needed]
    return [project for project in projects if project.name in wanted]


def own_requirements(project: Project, known: Iterable[str]) -> list[str]:
    """Return the build requirements of ``project`` that are in ``known``."""
    wanted = {normalize_name(requirement) for requirement in project.build_requires}
    return sorted(wanted & set(known))


def foreign_requirements() -> list[str]:
    """Return the external requirements for building all projects.

    These are the build requirements, and the run requirements of projects that other projects
    need for their build, without the compilers of device code.
    """
    projects = in_build_order()
    names = {project.name for project in projects}
    built_with = {name for project in projects for name in own_requirements(project, names)}
    every = {
        requirement
        for project in projects
        if project.device_compiler is None
        for requirement in project.build_requires
    }
    for project in projects:
        if project.name in built_with:
            every.update(project.requires)
    return sorted(requirement for requirement in every if normalize_name(requirement) not in names)


def compiler_requirements() -> list[str]:
    """Return the distributions of device code compilers that are not in PATH."""
    projects = in_build_order()
    names = {project.name for project in projects}
    every = {
        requirement
        for project in projects
        if project.device_compiler is not None and shutil.which(project.device_compiler) is None
        for requirement in project.build_requires
    }
    compilers = {x for x in every if normalize_name(x) not in names}
    return sorted(compilers - set(foreign_requirements()))

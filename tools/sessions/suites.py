"""Test suites, which run in separate processes."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

import nox

from .devices import WITHOUT_DEVICE
from .environments import BUILD, DIST
from .requirements import ROOT
from .vendors import other_runtimes

# A folder of tests or INSTALLED, and its environment variables.
Suite = tuple[str, Mapping[str, str]]
# The package whose tests are installed, because vendors run them too.
INSTALLED = "dl_torch_tests"
# Makes `tests` run all cases that the packages' tests sample; `full` sets it.
WHOLE_PACKAGES = "DL_NOX_WHOLE_PACKAGES"
# Tested in an environment without torch, where only the wheels up to their own are installed.
TORCH_FREE = {
    "packages/diopi-proto/tests": "dl_diopi_proto-",
    "packages/graph/tests": "dl_graph-",
}
# Also tested there, with all wheels; the environment with torch runs only tests that need it.
ALSO_WITHOUT_TORCH = ("packages/conformance/tests", "packages/report/tests")
# Tests of dl-autotune that need an extra, which `environment` does not have.
EXTRAS_OF_AUTOTUNE = tuple(
    f"packages/autotune/tests/test_{name}.py"
    for name in ("kernel_tuner", "postgresql", "ray", "ray_server", "tuner")
)
# One in two test functions runs, with one in twenty of its cases, a new choice for each commit;
# `full` runs all. Not sampled: tests/architecture, and TORCH_FREE, which lacks the plugin's
# requirements.
DRAWN = ("-p", "tools.drawn_tests", "--one-of=20", "--whole=tests/architecture")
# Variable of a suite: which half of the functions runs, 0 or 1. A suite that runs on two vendors
# runs one half on each.
HALF = "DL_NOX_HALF"


def install_test_plugins(session: nox.Session, python: str) -> Path:
    """Install the test plugins into a folder, which test runs add to PYTHONPATH.

    In the environment they would become a visible device.
    """
    plugins = BUILD / "test-plugins"
    shutil.rmtree(plugins, ignore_errors=True)
    wheels_for_tests = sorted(map(str, (DIST / "test").glob("*.whl")))
    if wheels_for_tests:
        options = ("--quiet", "--no-deps", "--no-index", "--target", str(plugins))
        session.run(python, "-m", "pip", "install", *options, *wheels_for_tests, external=True)
    return plugins


def passed_tests(option: str, folder: str) -> dict[str, str]:
    """Return the environment that makes pytest record, or skip, tests that passed without torch."""
    BUILD.mkdir(exist_ok=True)
    file = BUILD / f"passed-without-torch-{folder.replace('/', '-')}.txt"
    # In one word, or pytest would take the file for a folder of tests and choose another root.
    options = ("-p", "tools.passed_tests", f"{option}={file}")
    return {"PYTEST_ADDOPTS": f"{os.environ.get('PYTEST_ADDOPTS', '')} {shlex.join(options)}"}


def run_tests(session: nox.Session, python: str, suites: Iterable[Suite]) -> list[str]:
    """Run pytest for each suite, in separate processes; return the names of the failed ones.

    As many run at a time as there are processors. Output is shown when a process has ended.
    """
    # Explicitly requested tests are not sampled.
    drawn = () if session.posargs or WHOLE_PACKAGES in os.environ else DRAWN

    def run(suite: Suite) -> subprocess.CompletedProcess[str]:
        folder, env = suite
        half = (*drawn, f"--functions={env.get(HALF, '0')}/2") if drawn else ()
        options = (*session.posargs, *(half if folder not in TORCH_FREE else ()))
        tests = ("--pyargs", folder) if folder == INSTALLED else (folder,)
        return subprocess.run(
            [python, "-m", "pytest", *tests, *options],
            # Waiting threads leave the processor to other suites.
            env={"OMP_WAIT_POLICY": "passive", **os.environ, **env},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    failed = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running: dict[Future[subprocess.CompletedProcess[str]], str] = {}
        for folder, env in suites:
            if folder == INSTALLED or any(ROOT.glob(f"{folder}/**/test_*.py")):
                name = " on ".join([folder, *filter(None, [env.get("DL_VENDORS")])])
                running[pool.submit(run, (folder, env))] = name
        session.log(f"testing: {', '.join(running.values())}")
        for future in as_completed(running):
            done = future.result()
            sys.stdout.write(done.stdout)
            sys.stdout.flush()
            # 5: no test matches the options.
            verdict = "passed" if done.returncode in (0, 5) else "failed"
            session.log(f"{running[future]}: {verdict}")
            if verdict == "failed":
                failed.append(running[future])
    return failed


def run_conformance(
    session: nox.Session,
    python: str,
    vendor: str,
    env: Mapping[str, str] | None = None,
    options: Iterable[str] = (),
    runtime: tuple[str, str] | None = None,
) -> Path:
    """Run the conformance suite on a vendor; return the report.

    :param env: variables that select a driver.
    :param options: further options of the suite.
    :param runtime: name of another driver, and the command that runs its arguments with it.
    """
    name = vendor if runtime is None else f"{vendor}-{runtime[0]}"
    report = BUILD / "conformance" / f"{name}.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    prefix = () if runtime is None else (runtime[1],)
    command = (*prefix, python, "-m", "dl_conformance", "--vendor", vendor, "--json", str(report))
    session.run(*command, *options, *session.posargs, env=env or {}, external=True)
    return report


def run_conformance_on_runtimes(
    session: nox.Session,
    python: str,
    vendor: str,
    driver: Mapping[str, str],
    options: Iterable[str],
) -> None:
    """Run the suite on a vendor's driver from packages, then on its other drivers for tests, and
    state the native share of torch's overloads.

    :param driver: variable that selects the driver from packages; empty if the user has selected a
        driver, which is the only one to test then.
    """
    others = other_runtimes(vendor) if driver else {}
    failed = []
    for runtime in (None, *others.items()):
        try:
            if runtime is not None and not _is_usable(session, *runtime):
                continue
            run_conformance(session, python, vendor, driver, options, runtime)
        except nox.command.CommandFailed:
            failed.append("the driver from packages" if runtime is None else runtime[0])
    coverage = (python, "-m", "dl_core", "coverage")
    session.run(*coverage, env={**driver, "DL_VENDORS": vendor}, external=True)
    if failed:
        session.error(f"the suite failed on {', '.join(failed)}")


def _is_usable(session: nox.Session, name: str, command: str) -> bool:
    """Return True if a driver for tests can be used here; `full` continues without it."""
    try:
        session.run(command, "true", external=True)
    except nox.command.CommandFailed:
        if os.environ.get(WITHOUT_DEVICE) != "skip":
            raise
        session.warn(f"the suite did not run on {name}, because {command} failed")
        return False
    return True

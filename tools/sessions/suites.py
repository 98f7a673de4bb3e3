"""Suites of tests, which run in processes of their own."""

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

from .environments import BUILD, DIST
from .requirements import ROOT

# A folder of tests or INSTALLED, and what the environment says there.
Suite = tuple[str, Mapping[str, str]]
# The package whose tests are installed, because vendors run them too.
INSTALLED = "dl_torch_tests"
# Makes `tests` run all that the packages' own tests sample; `full` sets it.
WHOLE_PACKAGES = "DL_NOX_WHOLE_PACKAGES"
# Tested in an environment without torch, each with no other wheel of ours than those before it.
TORCH_FREE = {
    "packages/diopi-proto/tests": "dl_diopi_proto-",
    "packages/graph/tests": "dl_graph-",
}
# Tested there too, with all wheels; the environment with torch runs only what needs torch.
ALSO_WITHOUT_TORCH = ("packages/conformance/tests", "packages/report/tests")
# Tests of dl-autotune that need an extra of their own, which `environment` does not have.
EXTRAS_OF_AUTOTUNE = tuple(
    f"packages/autotune/tests/test_{name}.py" for name in ("kernel_tuner", "ray", "tuner")
)
# One in twenty cases of each test function runs, others for each commit; `full` runs all. Not
# sampled are the rules of the repository, and TORCH_FREE, which lacks the plugin's requirements.
DRAWN = ("-p", "tools.drawn_tests", "--one-of=20", "--whole=tests/architecture")


def install_test_plugins(session: nox.Session, python: str) -> Path:
    """Install the plugins for tests into a folder, which a run has to name in PYTHONPATH.

    They stay out of the environment, where they would become a visible device.
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
    # In one word, or pytest takes the file for a folder of tests, and another root for its own.
    options = ("-p", "tools.passed_tests", f"{option}={file}")
    return {"PYTEST_ADDOPTS": f"{os.environ.get('PYTEST_ADDOPTS', '')} {shlex.join(options)}"}


def run_tests(session: nox.Session, python: str, suites: Iterable[Suite]) -> list[str]:
    """Run pytest for each suite, in processes that start as a user's would; return what failed.

    There are as many at a time as processors. What a process writes is shown when it has ended.
    """
    # Tests that are named run whole.
    drawn = () if session.posargs or WHOLE_PACKAGES in os.environ else DRAWN

    def run(suite: Suite) -> subprocess.CompletedProcess[str]:
        folder, env = suite
        options = (*session.posargs, *(drawn if folder not in TORCH_FREE else ()))
        tests = ("--pyargs", folder) if folder == INSTALLED else (folder,)
        return subprocess.run(
            [python, "-m", "pytest", *tests, *options],
            # Those that wait for a thread leave the processor to another suite.
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
) -> Path:
    """Run the conformance suite on a vendor; return the report.

    :param env: variables that select a driver.
    :param options: further options of the suite.
    """
    report = BUILD / "conformance" / f"{vendor}.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    command = (python, "-m", "dl_conformance", "--vendor", vendor, "--json", str(report))
    session.run(*command, *options, *session.posargs, env=env or {}, external=True)
    return report

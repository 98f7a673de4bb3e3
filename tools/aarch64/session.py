"""Steps of the session."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tools.projects import Project, closure, in_build_order

from . import checks, selection, torch_wheel, training
from .options import LEVELS, Options
from .packages import foreign_requirements, install_requirements
from .report import Finding, Report
from .root import Root
from .wheels import Builder

CONTRACT, VENDOR, SUITE, CORE = "dl-diopi-proto", "dl-vendor-cpu", "dl-conformance", "dl-core"
TARGETS = (VENDOR, SUITE)
TEST = ("pytest", "hypothesis", "pyyaml", "setuptools")
FILESYSTEM, TORCH = "root filesystem", "install torch"


class Session:
    """The session on one root filesystem.

    :param say: function that shows a line of progress.
    """

    def __init__(self, options: Options, root: Root, say: Callable[[str], None]) -> None:
        self.options, self.root, self.say = options, root, say
        targets = [*TARGETS, CORE] if options.torch else [*TARGETS]
        self.projects = closure(targets, in_build_order())
        families = ",".join(options.families or ())
        self.builder = Builder(
            root,
            {
                "DL_BUILD_ISA": options.level,
                "DL_CPU_FAMILIES": families,
                "MAX_JOBS": str(options.jobs),
            },
        )

    def run(self, report: Report) -> None:
        """Run all steps."""
        report.run(FILESYSTEM, self.prepare)
        needs = FILESYSTEM
        for project in self.projects:
            if project.name == CORE:
                continue
            report.run(f"build {project.name}", partial(self.build, project), [needs])
            if project.name == CONTRACT:
                needs = f"build {CONTRACT}"
                report.run(f"tests of {CONTRACT}", partial(self.test, project), [needs])
        built = [f"build {VENDOR}", f"build {SUITE}"]
        report.run("conformance", self.conform, built)
        if self.options.torch is None:
            return
        report.run(TORCH, partial(self.install_torch, self.options.torch), [FILESYSTEM])
        (core,) = (project for project in self.projects if project.name == CORE)
        report.run(f"build {CORE}", partial(self.build, core), [TORCH, "build dl-graph"])
        report.run("train on dl", self.train, [f"build {CORE}", f"build {VENDOR}"])

    def prepare(self) -> Finding:
        created = self.root.create()
        self.root.add_compiler()
        self.root.mount()
        self.root.index_libraries()
        # Those of dl-core too, so that a run without torch does not change what is installed.
        every = closure([*TARGETS, CORE], in_build_order())
        required = (*foreign_requirements(every), *TEST)
        installed = install_requirements(self.root, required)
        verb = "created" if created else "updated" if installed else "reused"
        return Finding(f"{verb} {self.root.path}")

    def build(self, project: Project) -> Finding:
        foundations = [torch_wheel.installed(self.root) or ""] if project.name == CORE else []
        built = self.builder.build(project, *foundations)
        size = self.builder.size(project) / 1e6
        restricted = project.name == VENDOR and self.options.families
        part = f", families {', '.join(self.options.families or ())} only" if restricted else ""
        return Finding(f"{size:.1f} MB, {'built' if built else 'unchanged'}{part}")

    def test(self, project: Project) -> Finding:
        counts = checks.run_tests(self.root, project, self.options.tests)
        detail = f"{counts}; left out: {checks.describe_left_out()}"
        return Finding(detail, counts.outcomes, counts.failed)

    def conform(self) -> Finding:
        every = selection.candidates(self.options.families)
        drawn = selection.draw(every, self.options.cases, self.options.seed)
        further = selection.runtime_checks()
        names = [*further, *drawn]
        level = LEVELS[0] if self.options.level == "all" else self.options.level
        counts = checks.run_cases(self.root, level, names, self.options.jobs, self.say)
        of = f"{len(drawn):,} of {len(every):,} cases by seed {self.options.seed}"
        detail = f"{of} and {len(further)} runtime checks: {counts}"
        return Finding(detail, counts.outcomes, counts.failed)

    def install_torch(self, release: str) -> Finding:
        found = torch_wheel.installed(self.root)
        if found is not None and found.partition("+")[0] == release:
            return Finding(f"torch {found}, unchanged")
        wheel = torch_wheel.download(f"torch=={release}", self.root.path.parent)
        stand_ins = torch_wheel.install(self.root, wheel)
        text = f"torch {torch_wheel.installed(self.root)}"
        if stand_ins:
            count = sum(stand_ins.values())
            text += f", with stand-ins for {len(stand_ins)} CUDA libraries ({count} functions)"
        return Finding(text)

    def train(self) -> Finding:
        emulated = training.train_emulated(self.root)
        if (native := self.options.native) is None:
            compared = "not compared with x86-64: run `tools/nox -s train-environment` before"
        else:
            compared = training.compare(emulated.losses, training.train_here(native).losses)
        return Finding(f"{emulated.line}; {compared}")

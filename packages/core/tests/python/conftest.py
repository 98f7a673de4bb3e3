"""Plugins as tiny real packages, and processes that see them."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import diopi_proto
import dl_core


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-device",
        action="store_true",
        help="fail, rather than skip, the tests that need a dl device where there is none",
    )


class Wheels:
    """Writes installed packages into a folder that goes on the path of a process."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._modules = 0

    def add(
        self,
        distribution: str,
        source: str,
        *,
        name: str,
        version: str = "1.2",
        group: str = "dl",
        module: str | None = None,
    ) -> str:
        """Install ``distribution`` with one module of this source; return the module's name."""
        self._modules += 1
        module = module or f"stub_{self.root.name.replace('-', '_')}_{self._modules}"
        (self.root / f"{module}.py").write_text(textwrap.dedent(source))
        self.add_metadata(distribution, version, f"[{group}]\n{name} = {module}\n")
        return module

    def add_metadata(self, distribution: str, version: str, entry_points: str) -> None:
        info = self.root / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n\nA stub.\n"
        )
        (info / "entry_points.txt").write_text(entry_points)

    def add_vendor(
        self, distribution: str, *, name: str, plugin: str | None = None, **fields: str
    ) -> str:
        """Install a plugin whose ``dl_vendor`` returns a descriptor; ``fields`` are source text."""
        values = {"library": "Path('/nonexistent/libvendor.so')", "version": "'1.2'", **fields}
        arguments = ", ".join(f"{key}={value}" for key, value in values.items())
        return self.add(
            distribution,
            f"""
            from pathlib import Path
            import pluggy
            from diopi_proto.descriptor import VendorDescriptor

            hookimpl = pluggy.HookimplMarker("dl")

            @hookimpl
            def dl_vendor():
                return VendorDescriptor(name={name!r}, {arguments})
            """,
            name=plugin or name,
        )

    def environment(self, **variables: str) -> dict[str, str]:
        """The environment of a process that sees these wheels, dl-core, and no other plugin."""
        sources = [Path(package.__file__).parents[1] for package in (dl_core, diopi_proto)]
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DL_", "DIPU_", "TORCH_"))}
        path = os.pathsep.join(str(part) for part in [self.root, *sources])
        foreign = ",".join(sorted(foreign_plugins()))
        return {**kept, "PYTHONPATH": path, "DL_DISABLE": foreign, **variables}

    def run(self, code: str, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run ``code`` in a process that sees these wheels."""
        if not dl_core_is_installed():
            entry = "[torch.backends]\ndl = dl_core._entry:autoload\n"
            if not list(self.root.glob("dl_core-*")):
                self.add_metadata("dl-core", dl_core.__version__, entry)
        return subprocess.run(
            [sys.executable, *options, "-c", textwrap.dedent(code)],
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            timeout=300,
            cwd=self.root,
        )


def foreign_plugins() -> set[str]:
    """Plugins that are installed beside the tests' own."""
    return {entry.name for entry in importlib.metadata.entry_points(group="dl")}


def dl_core_is_installed() -> bool:
    try:
        importlib.metadata.distribution("dl-core")
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


@pytest.fixture
def wheels(tmp_path: Path) -> Wheels:
    return Wheels(tmp_path)


@pytest.fixture
def on_path(wheels: Wheels, monkeypatch: pytest.MonkeyPatch) -> Wheels:
    """The same wheels, seen by this very process."""
    for name in list(os.environ):
        if name.startswith(("DL_", "DIPU_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DL_DISABLE", ",".join(sorted(foreign_plugins())))
    monkeypatch.syspath_prepend(wheels.root)
    return wheels


@pytest.fixture(scope="session")
def dl_device(request: pytest.FixtureRequest) -> None:
    """A dl device in this process; skips the test where there is none."""
    import torch

    if hasattr(torch, "dl") and torch.dl.is_available():
        return
    from dl_core import _entry

    why = " ".join([*_entry.outcome.problems, *_entry.outcome.reasons]) if _entry.outcome else ""
    if request.config.getoption("--require-device"):
        pytest.fail(f"there is no dl device: {why}")
    pytest.skip(f"there is no dl device: {why}")

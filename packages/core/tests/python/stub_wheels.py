"""Plugins as tiny installed packages, and processes that see them."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import diopi_proto
import dl_core


class Wheels:
    """Writes installed packages to a folder on the path of a process."""

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
        """Return the environment of a process that sees these wheels, dl-core, and no other
        plugin."""
        sources = [Path(package.__file__).parents[1] for package in (dl_core, diopi_proto)]
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DL_", "DIPU_", "TORCH_"))}
        path = os.pathsep.join(str(part) for part in [self.root, *sources])
        foreign = ",".join(sorted(foreign_plugins()))
        return {**kept, "PYTHONPATH": path, "DL_DISABLE": foreign, **variables}

    def run(self, code: str, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run ``code`` in a process that sees these wheels."""
        if not list(self.root.glob("dl_core-*")):
            # In a source checkout dl-core has no metadata; elsewhere this hides it.
            entry = "[torch.backends]\ndl = dl_core._entry:autoload\n"
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
    """Return the installed plugins, apart from the tests' own plugins."""
    return {entry.name for entry in importlib.metadata.entry_points(group="dl")}

"""Facts about the installed torch, found without importing it."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from dl_core._version import __version__


class TorchBuild(NamedTuple):
    """The torch that is installed in this environment."""

    version: str
    cuda: str | None
    """CUDA version of the build; None for builds without CUDA."""
    hip: str | None
    """ROCm version of the build; None for builds without ROCm."""


def torch_build() -> TorchBuild | None:
    """Return the torch of this environment; None if it is not installed.

    Uses the imported module if there is one, otherwise reads ``torch/version.py`` as text.
    """
    loaded = sys.modules.get("torch")
    version = getattr(loaded, "version", None)
    if version is not None:
        return TorchBuild(str(version.__version__), version.cuda, version.hip)
    try:
        spec = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    facts = _assignments(Path(spec.origin).parent / "version.py")
    if "__version__" not in facts:
        return None
    return TorchBuild(facts["__version__"] or "", facts.get("cuda"), facts.get("hip"))


def _assignments(path: Path) -> dict[str, str | None]:
    """Return the names to which ``path`` assigns a string or None."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        return {}
    found: dict[str, str | None] = {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign):
            targets: list[ast.expr] = [node.target]
        elif isinstance(node, ast.Assign):
            targets = node.targets
        else:
            continue
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str | None):
            found.update((t.id, node.value.value) for t in targets if isinstance(t, ast.Name))
    return found


def built_for() -> str | None:
    """Return the torch version that the compiled part was built for; None in a source checkout."""
    try:
        from dl_core import _build_info
    except ImportError:
        return None
    return _build_info.TORCH_VERSION


def has_compiled_part() -> bool:
    """Return True if ``dl_core._C`` exists. It is not imported, because that needs torch."""
    return importlib.util.find_spec("dl_core._C") is not None


def mismatch(running: str, built: str) -> str | None:
    """Return why a compiled part for torch ``built`` does not work with torch ``running``, or None.

    The local version (``+cpu``, ``+cu126``) is ignored: builds of a release have the same C++ ABI.
    """
    if running.partition("+")[0] == built.partition("+")[0]:
        return None
    theirs, ours = running.partition("+")[0], built.partition("+")[0]
    return (
        f"dl-core was built for torch {built} and torch {running} is running, so the dl device "
        f"stays off. Install the dl-core that was built for torch {theirs}, "
        f"`pip install dl-core=={__version__}+torch{theirs}`, or `pip install torch=={ours}`."
    )


def torch_gpu(
    build: TorchBuild, environ: Mapping[str, str], dev: Path = Path("/dev")
) -> str | None:
    """Return a sentence if this machine has a GPU that this torch supports itself, otherwise None.

    Checks device files only: querying the driver could create a context and break later forks.
    """
    if build.cuda is not None:
        kind, visible = f"CUDA {build.cuda}", "CUDA_VISIBLE_DEVICES"
        # WSL exposes GPUs as /dev/dxg.
        files = [*dev.glob("nvidia[0-9]*"), *dev.glob("dxg")]
    elif build.hip is not None:
        kind, visible = f"ROCm {build.hip}", "HIP_VISIBLE_DEVICES"
        files = list(dev.glob("kfd"))
    else:
        return None
    if not files or environ.get(visible, "0").strip() in ("", "-1"):
        return None
    return f"torch {build.version} was built with {kind} and {files[0]} exists"

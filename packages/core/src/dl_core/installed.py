"""Facts about the torch beside us, learnt without importing it."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from dl_core import __version__


class TorchBuild(NamedTuple):
    """Which torch is installed."""

    version: str
    cuda: str | None
    """CUDA version it was built with, None for builds without."""
    hip: str | None
    """The same for ROCm."""


def torch_build() -> TorchBuild | None:
    """The torch of this environment, None if there is none.

    Takes the imported one if there is one, else reads ``torch/version.py`` as text.
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
    """Names that ``path`` assigns a string or None."""
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
    """Version of the torch that the compiled part was built against; None in a source checkout."""
    try:
        from dl_core import _build_info
    except ImportError:
        return None
    return _build_info.TORCH_VERSION


def has_compiled_part() -> bool:
    """Whether ``dl_core._C`` is there. It is not imported: without torch it cannot be."""
    return importlib.util.find_spec("dl_core._C") is not None


def mismatch(running: str, built: str) -> str | None:
    """Why a compiled part built against torch ``built`` does not fit torch ``running``, or None.

    The local part (``+cpu``, ``+cu126``) is free: builds of one release share their C++ interface.
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
    """A sentence if this torch has a GPU of its own here, else None.

    Only looks at device files: asking the driver could create a context and break later forks.
    """
    if build.cuda is not None:
        kind, visible = f"CUDA {build.cuda}", "CUDA_VISIBLE_DEVICES"
        # /dev/dxg is how WSL shows a GPU.
        files = [*dev.glob("nvidia[0-9]*"), *dev.glob("dxg")]
    elif build.hip is not None:
        kind, visible = f"ROCm {build.hip}", "HIP_VISIBLE_DEVICES"
        files = list(dev.glob("kfd"))
    else:
        return None
    if not files or environ.get(visible, "0").strip() in ("", "-1"):
        return None
    return f"torch {build.version} was built with {kind} and {files[0]} is there"

"""Record the figures of torch's own CUDA kernels, extracted from its CUDA wheel.

    python -m tools.gpu_code.torch_kernels

The interpreter must have a CUDA build of torch; ``cuobjdump`` must be in PATH. The figures are
committed, so that only a new release of torch requires this.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tools.gpu_code.cubin import kernel_names, kernels, program, readable, run
from tools.gpu_code.figures import Figures, best, figures
from tools.gpu_code.pairs import Pair, pairs, short

DATA = Path(__file__).parents[2] / "packages/kernels/docs/gpu-code-torch.json"
ARCHITECTURE = "sm_90"
PACKAGES = {"torch": "torch", "cublas": "nvidia-cublas", "cudnn": "nvidia-cudnn-cu13"}


def libraries() -> dict[str, Path]:
    """Return the paths of the libraries with kernels, keyed by the names that pairs.py uses.

    :raises RuntimeError: the interpreter has no CUDA build of torch.
    """
    spec = find_spec("torch")
    site = Path(spec.origin).parents[1] if spec and spec.origin else None
    library = site / "torch/lib/libtorch_cuda.so" if site else None
    if site is None or library is None or not library.exists():
        raise RuntimeError("this interpreter has no CUDA build of torch; install one")
    return {
        "libtorch_cuda": library,
        "libcublasLt": next(site.glob("nvidia/*/lib/libcublasLt.so.*")),
        "libcudnn_engines_precompiled": next(
            site.glob("nvidia/*/lib/libcudnn_engines_precompiled.so.*")
        ),
    }


def images(library: Path, folder: Path) -> list[Path]:
    """Extract the machine code files of a library, for one architecture."""
    if not any(folder.glob("*.cubin")):
        folder.mkdir(parents=True, exist_ok=True)
        cuobjdump = program("cuobjdump")
        run([cuobjdump, "-xelf", f"{ARCHITECTURE}.cubin", str(library)], folder=folder)
    return sorted(folder.glob("*.cubin"))


def find(wanted: Iterable[Pair], files: Iterable[Path]) -> dict[str, Figures]:
    """Return the best figures for each pair, by key."""
    places = {name: path for path in files for name in kernel_names(path)}
    names = {name: short(text) for name, text in readable(places).items()}
    found: dict[str, Figures] = {}
    for pair in wanted:
        matching = [name for name, text in names.items() if re.search(pair.torch[1], text)]
        by_file: dict[Path, list[str]] = {}
        for name in matching:
            by_file.setdefault(places[name], []).append(name)
        unit = pair.torch_unit or pair.unit
        each = [
            figures(kernel, names[kernel.name], unit)
            for path, of_file in by_file.items()
            for kernel in kernels(path, of_file)
        ]
        chosen = best((x for x in each if x is not None), unit)
        if chosen is None:
            sys.stderr.write(f"{pair.key}: {len(matching)} kernels match, none with elements\n")
            continue
        found[pair.key] = chosen
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, help="folder that caches machine code")
    parser.add_argument(
        "--only", default="", help="regular expression for the pairs to update (default: all)"
    )
    options = parser.parse_args()
    chosen = [pair for pair in pairs() if re.search(options.only, pair.key)]
    found: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        for name, library in libraries().items():
            wanted = [pair for pair in chosen if pair.torch[0] == name]
            if wanted:
                found.update(find(wanted, images(library, folder / name)))
    known = json.loads(DATA.read_text("utf-8"))["kernels"] if options.only else {}
    known.update({key: figure.json() for key, figure in found.items()})
    data: dict[str, Any] = {
        "architecture": ARCHITECTURE,
        "versions": {
            "torch": version("torch"),
            "cublas": version("nvidia-cublas"),
            "cudnn": version("nvidia-cudnn-cu13"),
        },
        "kernels": {key: known[key] for key in sorted(known)},
    }
    DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

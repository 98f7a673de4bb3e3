"""Notes on frameworks for ``dl doctor``: cases where they would silently use the CPU.

Frameworks know devices by name. dl-integrations adds dl to those listed here; without it, each has
a note with the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution

_WHEEL = "dl-integrations"

FRAMEWORKS: Mapping[str, str] = {
    "accelerate": (
        "Accelerator() is on the CPU, unless `dl run` or ACCELERATE_TORCH_DEVICE=dl puts it on dl; "
        'mixed_precision="fp16" is rejected there, and device_map="auto" finds no dl device'
    ),
    "deepspeed": "initialize() is on the CPU",
    "mmengine": "Runner is on the CPU",
    "pytorch-lightning": 'accelerator="auto" uses the CPU',
    "safetensors": 'load_file(path, device="dl") raises an error; device=0 is dl',
    "sentence-transformers": 'SentenceTransformer(name) is on the CPU, unless device="dl" is given',
    "transformers": (
        'pipeline(device=0) is on the CPU, unless device="dl" is given; '
        "TrainingArguments(bf16=True) is rejected"
    ),
}

CUDA = (
    'Programs for CUDA: torch.autocast("cuda") has no effect on dl tensors and '
    "device='cuda' is an error of torch. `dl run --mock-cuda` maps cuda to dl in frameworks too."
)
"""Note on torch itself."""


def notes() -> list[str]:
    """Return one sentence for each installed framework that does not know dl, and one for CUDA
    programs."""
    found = []
    if not _installed(_WHEEL):
        for name, text in FRAMEWORKS.items():
            if _installed(name):
                found.append(f"{name}: {text}. `pip install {_WHEEL}` adds dl.")
    return [*found, CUDA]


def _installed(name: str) -> bool:
    try:
        distribution(name)
    except (PackageNotFoundError, ValueError):
        return False
    return True

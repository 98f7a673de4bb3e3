"""Notes on frameworks for ``dl doctor``: cases where they would silently use the CPU.

Frameworks know devices by name. dl-integrations and ``dl run`` handle what is possible from
outside a framework; these notes list the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, distribution

_WHEEL = "dl-integrations"

Sentence = Callable[[bool], str]
"""Note for a framework; the argument is True if dl-integrations is installed."""


def _accelerate(told: bool) -> str:
    device = (
        "Accelerator() is on dl"
        if told
        else f"Accelerator() is on the CPU; `dl run`, ACCELERATE_TORCH_DEVICE=dl or "
        f"`pip install {_WHEEL}` puts it on dl"
    )
    return (
        f'{device}. mixed_precision="fp16" is rejected there, and device_map="auto" finds no dl '
        f"device: dl_integrations.accelerate has use_float16() and max_memory()."
    )


def _transformers(told: bool) -> str:
    return (
        'pipeline(device=0) is on the CPU: use device="dl". TrainingArguments(bf16=True) is '
        "rejected: dl_integrations.transformers has TrainingArguments and a Trainer that take it, "
        "and fp16."
    )


def _lightning(told: bool) -> str:
    needed = "" if told else f", which needs `pip install {_WHEEL}`"
    return f'accelerator="auto" uses the CPU: use Trainer(strategy="dl"){needed}.'


def _sentence_transformers(told: bool) -> str:
    return 'SentenceTransformer(name) is on the CPU: use device="dl".'


def _safetensors(told: bool) -> str:
    return 'load_file(path, device="dl") raises an error: use device=0.'


FRAMEWORKS: Mapping[str, Sentence] = {
    "accelerate": _accelerate,
    "pytorch-lightning": _lightning,
    "safetensors": _safetensors,
    "sentence-transformers": _sentence_transformers,
    "transformers": _transformers,
}

CUDA = (
    'Programs for CUDA: torch.autocast("cuda") has no effect on dl tensors and '
    "device='cuda' is an error of torch. `dl run --mock-cuda` maps cuda to dl in frameworks too."
)
"""Note on torch itself."""


def notes() -> list[str]:
    """Return one sentence for each installed framework, and one for CUDA programs."""
    told = _installed(_WHEEL)
    found = [
        f"{name}: {sentence(told)}" for name, sentence in FRAMEWORKS.items() if _installed(name)
    ]
    return [*found, CUDA]


def _installed(name: str) -> bool:
    try:
        distribution(name)
    except (PackageNotFoundError, ValueError):
        return False
    return True

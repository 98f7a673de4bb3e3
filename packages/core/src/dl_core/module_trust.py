"""Whether the files of a module lie where nobody else can write, found without importing it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path

from diopi_proto.trust import why_untrusted


def why_module_untrusted(module: str) -> str | None:
    """Why nobody should import ``module``, as a sentence that names the file; None: they may.

    Its packages are examined as well, for importing it runs them. A module that is nowhere, or has
    no file, has nothing to be examined.
    """
    for spec in _specs(module):
        for path in _files(spec):
            reason = why_untrusted(path)
            if reason is not None:
                return reason
    return None


def _specs(module: str) -> Iterator[ModuleSpec]:
    places: Sequence[str] | None = None
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        # The first finds what is installed in unusual ways; for others it would import the package.
        spec = find_spec(name) if end == 1 else PathFinder.find_spec(name, places)
        if spec is None:
            return
        yield spec
        if spec.submodule_search_locations is None:
            return
        places = list(spec.submodule_search_locations)


def _files(spec: ModuleSpec) -> Iterator[Path]:
    """What decides: the way to a file leads through its folders, which are examined with it."""
    if spec.origin is None or not spec.has_location:
        yield from (Path(place).absolute() for place in spec.submodule_search_locations or ())
        return
    yield Path(spec.origin).absolute()
    # Python runs what was compiled before, if it seems to belong to the file.
    if spec.cached:
        cached = Path(spec.cached).absolute()
        if cached.parent.exists():
            yield cached if cached.exists() else cached.parent

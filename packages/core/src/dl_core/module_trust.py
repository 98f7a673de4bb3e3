"""Check that other users cannot write to the files of a module, without importing it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path

from diopi_proto.trust import why_untrusted


def why_module_untrusted(module: str) -> str | None:
    """Return why ``module`` must not be imported, as a sentence that names the file; None if it
    may be imported.

    Its parent packages are checked as well, because importing the module runs them. A module that
    does not exist or has no file is not checked.
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
        # The first finder handles unusual installations, such as editable ones. For other modules
        # it would import the package.
        spec = find_spec(name) if end == 1 else PathFinder.find_spec(name, places)
        if spec is None:
            return
        yield spec
        if spec.submodule_search_locations is None:
            return
        places = list(spec.submodule_search_locations)


def _files(spec: ModuleSpec) -> Iterator[Path]:
    """Yield the files to check. Checking a file includes the folders on its path."""
    if spec.origin is None or not spec.has_location:
        yield from (Path(place).absolute() for place in spec.submodule_search_locations or ())
        return
    yield Path(spec.origin).absolute()
    # Python runs cached bytecode if it seems to match the source file.
    if spec.cached:
        cached = Path(spec.cached).absolute()
        if cached.parent.exists():
            yield cached if cached.exists() else cached.parent

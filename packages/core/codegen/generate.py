"""Write the generated files of dl-core: ``python codegen/generate.py [--check]``.

They are C++ sources, and a JSON file that contains the table for Python code.

Needs torch (for torchgen and the dispatcher) and PyYAML; the output is committed, so that a build
needs neither.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

import emit
import torch
from declarations import read_declarations
from model import Entry, Table
from problems import Mistake, TableError
from rows import TABLE, Use

SOURCES = Path(__file__).parents[1] / "csrc"
ATEN = SOURCES / "aten"
CALLS = SOURCES.with_name("src") / "dl_core" / "contract_calls_gen.json"
FINGERPRINTS = Path(__file__).parents[2] / "diopi-proto/include/diopi/fingerprints.gen.h"
# Composite operators whose code needs a CPU kernel for the device type, or resizes a scalar.
NEEDS_CPU = {"mode.values", "conj_physical_", "addr_"}


def contract_operators() -> list[str]:
    return sorted(set(re.findall(r"DIOPI_FINGERPRINT_(\w+)", FINGERPRINTS.read_text("utf-8"))))


def registered_by_hand() -> set[str]:
    """Return the operators that a file of csrc/aten registers itself."""
    sources = [path for path in ATEN.rglob("*.cpp") if ".gen." not in path.name]
    names = r'((?:\s*"[\w.]+",)+)'
    pattern = r"(?:library\.impl|DL_KERNEL|DL_COMPOSED|DL_COMPOSED_FORMS|DL_COMPOSED_OUT)\(" + names
    calls = [call for path in sources for call in re.findall(pattern, path.read_text("utf-8"))]
    return {name for call in calls for name in re.findall(r'"([\w.]+)"', call)}


def explicit_fallback_names(entries: list[Entry]) -> list[str]:
    """Return the operators whose CPU kernels the boxed fallback would never reach."""
    wrapped = {form.overload for entry in entries for form in entry.forms}
    names = NEEDS_CPU | {"convolution", "convolution_backward"}
    for full in torch._C._dispatch_get_all_op_names():
        if not full.startswith("aten::"):
            continue
        name = full.removeprefix("aten::")
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        if not has(full, "CPU") or has(full, "CompositeImplicitAutograd"):
            continue
        explicit = has(full, "CompositeExplicitAutograd")
        if explicit or has(full, "CompositeExplicitAutogradNonFunctional"):
            names.add(name)
    return sorted(names - wrapped - registered_by_hand())


def wrappers(table: Table, folder: Path = TABLE) -> tuple[dict[str, list[Entry]], dict[str, str]]:
    """Return the entries of each family and the C++ code of their wrappers.

    :raises TableError: the table has errors; the message lists every error.
    """
    declarations = table.declarations
    errors: list[Mistake] = []
    families = table.load(folder, errors)
    shards = {}
    for name, family in families.items():
        try:
            shards[name] = emit.shard(f"{name}.yaml", family, declarations)
        except TableError as found:
            errors += found.mistakes
    if errors:
        raise TableError(errors)
    return families, shards


def contract_calls(entries: list[Entry]) -> str:
    """Return the table as data: the contract operator and its arguments for each overload."""

    def use(found: Use | None) -> object:
        return None if found is None else [found.name, list(found.values)]

    rows = [
        {
            "forms": [form.overload for form in entry.forms],
            "rule": entry.rule,
            "plan": use(entry.row.plan),
            "call": use(entry.row.call),
            "scalar": use(entry.row.scalar),
            "alternatives": [use(x) for x in entry.row.alternatives],
        }
        for entry in entries
    ]
    return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"


def outputs() -> dict[Path, str]:
    families, shards = wrappers(Table(read_declarations()))
    entries = [entry for family in families.values() for entry in family]
    return {
        SOURCES / "contract" / "operators.gen.h": emit.operators(contract_operators()),
        ATEN / "fallback" / "explicit_fallbacks.gen.cpp": emit.explicit_fallbacks(
            explicit_fallback_names(entries)
        ),
        CALLS: contract_calls(entries),
        **{ATEN / "wrappers" / f"{name}.gen.cpp": text for name, text in shards.items()},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing and fail if a file would change"
    )
    check = parser.parse_args().check
    try:
        files = outputs()
    except TableError as errors:
        print(errors, file=sys.stderr)
        return 1
    stale = [p for p, text in files.items() if not p.exists() or p.read_text("utf-8") != text]
    unknown = sorted(set((ATEN / "wrappers").glob("*.gen.cpp")) - set(files))
    if check:
        for path in stale:
            print(f"{path.name} is out of date: run python codegen/generate.py", file=sys.stderr)
        for path in unknown:
            print(f"{path.name} has no table: run python codegen/generate.py", file=sys.stderr)
        return 1 if stale or unknown else 0
    (ATEN / "wrappers").mkdir(exist_ok=True)
    for path in stale:
        path.write_text(files[path], "utf-8")
    for path in unknown:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())

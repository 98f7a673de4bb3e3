"""Write the generated C++ of dl-core: ``python codegen/generate.py [--check]``.

Needs torch (for torchgen and the dispatcher) and PyYAML; the output is committed, so that
building needs neither.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import emit
import torch
from model import Entry, load_table

OUTPUT = Path(__file__).parents[1] / "csrc" / "aten"
SHARDS = 3
# Called outside the wrappers.
EXTRA_OPERATORS = ["diopiCopyInp"]
# Composite only, and their code asks for a CPU kernel by the device's type, or resizes a number.
NEEDS_CPU = {"mode.values", "conj_physical_", "addr_"}
# Composite on purpose, or registered by hand in csrc/aten.
NOT_EXPLICIT = {"_efficientzerotensor", "native_dropout", "native_dropout_backward"}


def explicit_fallback_names(entries: list[Entry]) -> list[str]:
    """Operators whose CPU kernel the boxed fallback would never reach."""
    wrapped = {form.overload for entry in entries for form in entry.forms}
    names = ["convolution", "convolution_backward"]
    for full in torch._C._dispatch_get_all_op_names():
        if not full.startswith("aten::"):
            continue
        name = full.removeprefix("aten::")
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        if not has(full, "CPU") or has(full, "CompositeImplicitAutograd"):
            continue
        explicit = has(full, "CompositeExplicitAutograd")
        if explicit or has(full, "CompositeExplicitAutogradNonFunctional"):
            names.append(name)
    return sorted((set(names) | NEEDS_CPU) - wrapped - NOT_EXPLICIT)


def outputs() -> dict[Path, str]:
    entries = load_table()
    names = sorted({name for e in entries for name in e.contract_functions} | set(EXTRA_OPERATORS))
    files = {
        OUTPUT / "operators.gen.h": emit.operators(names),
        OUTPUT / "explicit_fallbacks.gen.cpp": emit.explicit_fallbacks(
            explicit_fallback_names(entries)
        ),
    }
    per_shard = -(-len(entries) // SHARDS)
    for i in range(SHARDS):
        files[OUTPUT / f"wrappers_{i}.gen.cpp"] = emit.shard(
            entries[i * per_shard : (i + 1) * per_shard]
        )
    return files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail when a file would change"
    )
    check = parser.parse_args().check
    files = outputs()
    stale = [p for p, text in files.items() if not p.exists() or p.read_text("utf-8") != text]
    if check:
        for path in stale:
            print(f"{path.name} is out of date: run python codegen/generate.py", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.write_text(files[path], "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

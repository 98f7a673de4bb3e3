"""The rules for dtypes of outputs that the generated operators check."""

from __future__ import annotations

import subprocess
from itertools import product
from pathlib import Path

from diopi_proto import include_dir as contract_dir
from diopi_proto.promotion import result_type
from diopi_proto.schema import DTYPES, load
from dl_vendor_kit import include_dir
from dl_vendor_kit.library.__main__ import main
from test_checks import COMPILER, FLAGS, HERE, run
from test_library_generator import project

# No tensor has it.
NAMES = [name for name in DTYPES if name != "tfloat32"]
ROWS = """\
#include "check.h"
#include "dl/kit/library/dtype_rules.h"

namespace lib = dl::kit::library;

namespace {{
struct Row {{
  lib::Operand first, second;
  int32_t wanted;
}};
constexpr Row kRows[] = {{
{rows}
}};
}}  // namespace

MAIN {{
  for (const Row& row : kRows) CHECK(lib::promote({{row.first, row.second}}) == row.wanted);
  const int32_t none = lib::kNoDtype;
  CHECK(lib::promote({{{{none, 0}}, {{diopi_dtype_int8, 1}}}}) == diopi_dtype_int8);
  CHECK(lib::promote({{{{none, 0}}}}) == none && lib::float_of(none) == none);
  CHECK(lib::complex_of(none) == none && lib::real_of(none) == none);
  CHECK(lib::float_of(diopi_dtype_bool) == diopi_dtype_float32);
  CHECK(lib::float_of(diopi_dtype_float16) == diopi_dtype_float16);
  CHECK(lib::float_of(diopi_dtype_complex64) == diopi_dtype_complex64);
  CHECK(lib::real_of(diopi_dtype_complex128) == diopi_dtype_float64);
  CHECK(lib::complex_of(diopi_dtype_float64) == diopi_dtype_complex128);
  CHECK(lib::accumulate(diopi_dtype_bfloat16) == diopi_dtype_float32);
  CHECK(lib::accumulate(diopi_dtype_float64) == diopi_dtype_float64);
  lib::View out;
  lib::require_output_dtype(out, "out", diopi_dtype_int8, "float of input");
  out.is_present = true;
  out.dtype = diopi_dtype_int8;
  lib::require_output_dtype(out, "out", diopi_dtype_int8, "float of input");
  lib::require_output_dtype(out, "out", none, "float of input");
  const StatusInfo declined = thrown(
      [&] {{ lib::require_output_dtype(out, "out", diopi_dtype_float32, "promote input other"); }});
  CHECK(declined.code == DL_NOT_SUPPORTED);
  CHECK(mentions(declined,
                 "out has the dtype int8, and its rule 'promote input other' gives float32"));
}}
"""


def test_promotion_is_that_of_the_contract(tmp_path: Path) -> None:
    rows = []
    for (a, first), (b, second) in product(product(NAMES, range(3)), repeat=2):
        wanted = result_type([(a, first), (b, second)])
        result = "lib::kNoDtype" if wanted is None else f"diopi_dtype_{wanted}"
        rows.append(
            f"    {{{{diopi_dtype_{a}, {first}}}, {{diopi_dtype_{b}, {second}}}, {result}}},"
        )
    source = tmp_path / "rules.cpp"
    source.write_text(ROWS.format(rows="\n".join(rows)))
    folders = [f"-I{x}" for x in (include_dir(), contract_dir(), HERE / "checks")]
    target = tmp_path / "rules"
    command = [*COMPILER, *FLAGS, *folders, str(source), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    run(target, tmp_path)


def test_outputs_with_a_rule_are_checked(tmp_path: Path) -> None:
    """int32 and float32 give float32, and an output of another dtype is declined."""
    folder = project(
        tmp_path / "toy",
        arithmetic="diopiAdd: 'toyAdd(input, other, alpha, out)'\n"
        "diopiAddScalar: 'toyAdd(input, @filled(dtype(out), [1], @number(other)), alpha, out)'\n",
    )
    assert main([str(folder)]) == 0
    text = " ".join((folder / "generated" / "arithmetic.gen.cpp").read_text().split())
    promoted = "lib::promote({lib::operand(input), lib::operand(other)})"
    check = f'lib::require_output_dtype( out, "out", {promoted}, "promote input other");'
    assert text.count(check) == 2, text


def test_every_rule_of_an_output_is_known() -> None:
    """A rule of the schema that the generator does not know would not be checked."""
    words = {
        parameter.dtype.split()[0]
        for operator in load().values()
        for parameter in operator.outputs
        if parameter.dtype is not None and " of " in f" {parameter.dtype} "
    }
    assert words <= {"float", "real", "complex"}

"""Operators as data: findings name file, line and argument, and what is generated compiles."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from diopi_proto import include_dir as contract_dir
from dl_vendor_kit import include_dir
from dl_vendor_kit.library.__main__ import main
from dl_vendor_kit.library.check import check
from dl_vendor_kit.library.expressions import ExpressionError, Name, parse, parse_step
from dl_vendor_kit.library.loading import load
from dl_vendor_kit.library.located import DataError
from dl_vendor_kit.library.text import NOTICE
from test_checks import COMPILER, FLAGS

LIBRARY = """\
name: toy
shape: two_phase
open: [libtoy.so]
executor: toyExecutor
copy: toyCopy
headers: [own.h]
types: {const toyTensor*: tensor, toyTensor*: tensor, const toyScalar*: scalar,
        const toyInts*: ints, const toyTensors*: tensors, const toyBools*: bools, toyDtype: dtype}
dtypes: {float32: 0, int64: 9}
formats: {ND: 2, NCHW: 0}
defaults: {format: {4: NCHW, else: ND}}
helpers: {precise: {returns: int, function: "toy::precise", context: true, doc: the precision}}
outputs: {sources: generated, fake: fake, page: operators.md}
"""
TENSOR = "const toyTensor*"


def tensors(*names: str, **more: object) -> list[dict[str, object]]:
    return [{"name": name, "type": TENSOR, **more} for name in names]


OUT = {"name": "out", "type": "toyTensor*", "io": "out"}
SIGNATURES: dict[str, list[dict[str, object]]] = {
    "toyAdd": [*tensors("self", "other"), {"name": "alpha", "type": "const toyScalar*"}, OUT],
    "toyMatmul": [*tensors("self", "mat2"), OUT, {"name": "precision", "type": "int8_t"}],
    "toyAddmm": [*tensors("self", "mat1", "mat2"), OUT],
    "toyRelu": [*tensors("self", dtypes=["float32"]), OUT],
    "toyCopy": [{"name": "to", "type": "toyTensor*", "io": "out"}, *tensors("source")],
    "toyFill": [{"name": "self", "type": "toyTensor*", "io": "out"},
                {"name": "value", "type": "const toyScalar*"}],
    "toySoftmax": [*tensors("self"), {"name": "dim", "type": "int64_t"}, OUT],
    "toyNorm": [*tensors("self"), *tensors("weight", "bias", optional=True),
                {"name": "shape", "type": "const toyInts*"}, {"name": "eps", "type": "double"}, OUT,
                {"name": "mean", "type": "toyTensor*", "io": "out", "strided": False}],
    "toyCat": [{"name": "tensors", "type": "const toyTensors*"},
               {"name": "dim", "type": "int64_t"}, OUT],
    "toyCast": [*tensors("self"), {"name": "dtype", "type": "const toyDtype"}, OUT],
}  # fmt: skip
OPERATORS = {
    "arithmetic": 'diopiAdd: "toyAdd(input, other, alpha, out)"\n',
    "matmul": """\
diopiLinear:
  - {when: bias, call: "toyAddmm(bias, flat2d(input), t(weight), flat2d(out))"}
  - {when: not bias or dtype(bias) == float32,
     needs: toyRelu, call: "toyMatmul(input, t(weight), out, @precise)",
     format: ND, contiguous: weight, dtypes: {input: [float32]}}
""",
    "softmax": 'diopiSoftmax: "toySoftmax(input, dim, out)"\n',
    "layer_norm": """\
diopiLayerNorm:
  temporaries: {sum: float32 like save_mean, more: "int64 [size(input, 0), 2]"}
  calls:
    - "toyNorm(input, weight, bias, normalized_shape, eps, out, save_mean)"
    - "toyCopy($sum, save_mean)"
    - "toyFill($more, 1 - eps)"
    - "toyCopy(save_invstd, $sum) if weight"
    - "toyCopy(save_invstd, $sum) if not weight"
""",
    "concat": 'diopiCat: "toyCat(tensors, dim, out)"\n',
    "copy": 'diopiCastDtype: "toyCast(input, out.dtype, out)"\n',
}


def project(folder: Path, **operators: str) -> Path:
    (folder / "operators").mkdir(parents=True)
    (folder / "library.yaml").write_text(LIBRARY)
    table = {name: {"arguments": arguments} for name, arguments in SIGNATURES.items()}
    (folder / "signatures.json").write_text(json.dumps(table, indent=1))
    for family, text in (operators or OPERATORS).items():
        (folder / "operators" / f"{family}.yaml").write_text(text)
    return folder


def findings(folder: Path) -> list[str]:
    return [str(finding) for finding in check(load(folder, "toy")).findings]


def test_right_data_has_no_findings_and_compiles(tmp_path: Path) -> None:
    folder = project(tmp_path / "toy")
    assert findings(folder) == []
    assert main([str(folder)]) == 0
    assert main([str(folder), "--check"]) == 0
    (folder / "own.h").write_text(
        '#include "dl/kit/library/call.h"\n'
        "namespace toy { inline int64_t precise(const dl::kit::library::Call&) { return 0; } }\n"
    )
    (folder / "vendor.h").write_text(
        '#include "dl/kit/operators.h"\n#include "dl/kit/library/call.h"\n'
        "namespace toy { struct Vendor : dl::kit::Instance {\n"
        "  int32_t device_count() { return 1; }\n"
        "  dl::kit::library::Backend& operator_library(diopiContextHandle_t); }; }\n"
        "using toy::Vendor;\n"
    )
    for source in sorted((folder / "generated").glob("*.cpp")):
        folders = [f"-I{x}" for x in (include_dir(), contract_dir(), folder)]
        command = [*COMPILER, *FLAGS, "-fsyntax-only", *folders, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{source.name}: {done.stderr}"
    fake = [*COMPILER, *FLAGS, "-fsyntax-only", str(folder / "fake" / "functions.gen.cpp")]
    assert subprocess.run(fake, check=False).returncode == 0
    # The contract has equal dtypes where a library may convert them.
    linear = (folder / "generated" / "matmul.gen.cpp").read_text()
    assert 'lib::require_same_dtype(weight, "weight", input, "input");' in linear
    assert 'lib::require_dtype(input, 0x1700, "input");' in linear
    page = (folder / "operators.md").read_text()
    assert "6 operators of the contract" in page and "| diopiLinear | if `bias`: " in page


def test_a_dtype_that_a_case_does_not_list_declines_only_that_case(tmp_path: Path) -> None:
    cases = """\
diopiSoftmax:
  - {when: "size(input, 1) == 3", dtypes: {input: [float32]}, upcast: input,
     call: "toySoftmax(input, dim, out)"}
  - {call: "toySoftmax(input, dim, out)"}
"""
    folder = project(tmp_path / "toy", softmax=cases)
    assert findings(folder) == []
    assert main([str(folder)]) == 0
    text = (folder / "generated" / "softmax.gen.cpp").read_text()
    # Conditions and dtypes may decline, and what holds() and attempt() run declines one case.
    condition = r"lib::holds\(call_, 1, \"not \(.*\)\", \[&\] \{ return \(.*size\(input"
    plan = r"lib::attempt\(call_, 1, \[&\]\(lib::Plan& plan_\) \{\s+\[&, input = plan_\.upcast\("
    assert re.search(condition, text) and re.search(rf"{plan}lib::of_dtypes\(input, 0x200", text)


HANDLES = """\
name: toy
shape: handle_descriptors
types: {toyHandle_t: handle, toyDesc_t: descriptor, const void*: tensor, void*: tensor,
        toyWorkspace_t: workspace, size_t: workspace_size, size_t*: workspace_result}
dtypes: {float32: 0}
outputs: {sources: generated, fake: fake}
declarations: [toy.h]
"""
DESCRIBED = [{"name": "x_desc", "type": "toyDesc_t"}, {"name": "x", "type": "const void*"}]
HANDLE = {"name": "handle", "type": "toyHandle_t"}
WITH_HANDLES = {
    "toySoftmax": [HANDLE, *DESCRIBED, {"name": "dim", "type": "int"},
                   {"name": "workspace", "type": "toyWorkspace_t"},
                   {"name": "bytes", "type": "size_t"},
                   {"name": "y_desc", "type": "toyDesc_t"},
                   {"name": "y", "type": "void*", "io": "out"}],
    "toyGetSoftmaxBytes": [HANDLE, {"name": "x_desc", "type": "toyDesc_t"},
                           {"name": "bytes", "type": "size_t*"}],
}  # fmt: skip


def handle_project(folder: Path, operator: str) -> Path:
    project(folder, softmax=operator)
    (folder / "library.yaml").write_text(HANDLES)
    table = {name: {"arguments": arguments} for name, arguments in WITH_HANDLES.items()}
    (folder / "signatures.json").write_text(json.dumps(table))
    return folder


def test_handles_descriptors_and_workspaces_are_filled(tmp_path: Path) -> None:
    entry = (
        "diopiSoftmax: {workspace: toyGetSoftmaxBytes(input), call: 'toySoftmax(input, dim, out)'}"
    )
    folder = handle_project(tmp_path / "toy", entry)
    assert findings(folder) == []
    assert main([str(folder)]) == 0
    (folder / "toy.h").write_text(
        "#include <cstddef>\ntypedef struct H* toyHandle_t;\ntypedef struct D* toyDesc_t;\n"
        "typedef void* toyWorkspace_t;\n"
    )
    generated = folder / "generated"
    fake = folder / "fake" / "functions.gen.cpp"
    for source in (fake, generated / "functions.gen.cpp", generated / "softmax.gen.cpp"):
        folders = [f"-I{x}" for x in (include_dir(), contract_dir(), folder)]
        command = [*COMPILER, *FLAGS, "-fsyntax-only", *folders, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert "functions::toyGetSoftmaxBytes, {" in source.read_text()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{workspace: 'toySoftmax(input, dim, out)', call: 'toySoftmax(input, dim, out)'}",
         "workspace: the function has no argument for the size"),
        ("{workspace: toyGetSoftmaxBytes(dim), call: 'toySoftmax(input, dim, out)'}",
         "a value of kind int does not fit the type toyDesc_t"),
        ("{workspace: toyGetSoftmaxBytes(input), calls: ['toySoftmax(input, dim, out)',"
         " 'toySoftmax(input, dim, out)']}", "one size needs a case with one call"),
    ],
)  # fmt: skip
def test_mistake_in_a_workspace_is_named(tmp_path: Path, entry: str, message: str) -> None:
    found = findings(handle_project(tmp_path / "toy", f"diopiSoftmax: {entry}"))
    assert any(message in line for line in found), found


WITH_OBJECTS = {
    "toyReduce": {"arguments": [
        HANDLE, {"name": "reduce_desc", "type": "toyReduce_t"}, *DESCRIBED,
        {"name": "workspace", "type": "toyWorkspace_t"}, {"name": "bytes", "type": "size_t"},
        {"name": "y_desc", "type": "toyDesc_t"}, {"name": "y", "type": "void*", "io": "out"}],
        "workspace": "toyGetReduceBytes"},
    "toyGetReduceBytes": {"arguments": [
        HANDLE, {"name": "y_desc", "type": "toyDesc_t"},
        {"name": "reduce_desc", "type": "toyReduce_t"}, {"name": "bytes", "type": "size_t*"}]},
    "toyConcat": {"arguments": [
        HANDLE, {"name": "count", "type": "int"}, {"name": "dim", "type": "int"},
        {"name": "x_desc", "type": "const toyDesc_t*"}, {"name": "x", "type": "const void* const*"},
        {"name": "y_desc", "type": "toyDesc_t"}, {"name": "y", "type": "void*", "io": "out"},
        {"name": "z", "type": "void*", "io": "out", "optional": True, "descriptor": "y_desc"}]},
}  # fmt: skip
OBJECT_TYPES = """\
  toyReduce_t: object
  const toyDesc_t*: descriptors
  const void* const*: tensors
helpers:
  reduce: {takes: [ints], returns: object, function: toy_reduce}
"""


def object_project(folder: Path, table: dict[str, object]) -> Path:
    project(
        folder,
        reduction="diopiSum: 'toyReduce(@reduce(dim), input, out)'",
        concat="diopiCat: 'toyConcat(num_inputs, dim, tensors, out, null)'",
    )
    types = HANDLES.split("types: {", 1)[1].split("}", 1)[0].replace(",", "\n ")
    lines = "\n".join(f"  {line.strip()}" for line in types.splitlines() if line.strip())
    text = HANDLES.replace(HANDLES[HANDLES.index("types:") : HANDLES.index("dtypes:")], "")
    (folder / "library.yaml").write_text(f"{text}types:\n{lines}\n{OBJECT_TYPES}")
    (folder / "signatures.json").write_text(json.dumps(table))
    return folder


def test_objects_lists_and_sized_workspaces_are_passed(tmp_path: Path) -> None:
    folder = object_project(tmp_path / "toy", WITH_OBJECTS)
    assert findings(folder) == []
    assert main([str(folder)]) == 0
    functions = (folder / "generated" / "functions.gen.cpp").read_text()
    # The given arguments are reduce_desc, x and y; the sizing function takes y first.
    assert "constexpr int8_t s_toyReduce[] = {2, 0};" in functions
    assert "&toyGetReduceBytes, s_toyReduce" in " ".join(functions.split())
    assert "ArgumentFacts::kDescriptors" in functions
    fake = (folder / "fake" / "functions.gen.cpp").read_text()
    assert '{"toyReduce", k_toyReduce, 8, "toyGetReduceBytes"}' in fake
    (z,) = [line for line in fake.splitlines() if '{"z", "void*"' in line]
    assert z.endswith(", 5},")  # described by y_desc


@pytest.mark.parametrize(
    ("workspace", "message"),
    [
        ("toyMissing", "its workspace is sized by toyMissing, which is not in the table"),
        ("toyConcat", "toyConcat, which sizes its workspace, takes count"),
        ("toyReduce", "it sizes its own workspace; name another function"),
    ],
)
def test_mistake_in_a_sizing_function_is_named(
    tmp_path: Path, workspace: str, message: str
) -> None:
    table = {**WITH_OBJECTS, "toyReduce": {**WITH_OBJECTS["toyReduce"], "workspace": workspace}}
    found = findings(object_project(tmp_path / "toy", table))
    assert any(message in line for line in found), found


def test_files_that_differ_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = project(tmp_path / "toy")
    assert main([str(folder)]) == 0
    for name in ("softmax.gen.cpp", "gone.gen.cpp"):
        (folder / "generated" / name).write_text(f"// {NOTICE}\nold")
    capsys.readouterr()
    assert main([str(folder), "--check"]) == 1
    said = capsys.readouterr().err
    assert "softmax.gen.cpp is out of date" in said and "gone.gen.cpp is out of date" in said
    assert main([str(folder)]) == 0
    assert not (folder / "generated" / "gone.gen.cpp").exists()
    assert main([str(folder), "--check"]) == 0


# CALL stands for a right call.
CALL = "call: 'toyAdd(input, other, alpha, out)'"
MISTAKES = [
    ("arithmetic", 'diopiAdd: "toyAd(input, other, alpha, out)"',
     "arithmetic.yaml:1: diopiAdd, case 1: toyAd is not in the signature table; close names: "),
    ("arithmetic", 'diopiAdd: "toyAdd(input, other, out)"',
     "toyAdd takes 4 arguments (self, other, alpha, out), and 3 are given"),
    ("arithmetic", 'diopiAdd: "toyAdd(input, alpha, other, out)"',
     "toyAdd, argument other: 'toyAdd(input, alpha, other, out)': a value of kind scalar does "
     "not fit the type const toyTensor*; pass another value, or convert it by a helper "
     "(at 'alpha, other, out)')"),
    ("arithmetic", 'diopiAdd: "toyAdd(out, other, alpha, input)"', "the function reads out, whose"),
    ("arithmetic", 'diopiAdd: "toyAdd(other, other, alpha, input)"',
     "argument out: the function writes this argument, and input is an input of the operator"),
    ("arithmetic", 'diopiAdd: "toyAdd(inputs, other, alpha, out)"',
     "'inputs' is not a parameter of the operator; its parameters are out, input, other, alpha"),
    ("arithmetic", 'diopiAdd: "toyAdd(input, input, alpha, out)"',
     "diopiAdd, case 1: the parameter other is not used"),
    ("arithmetic", 'diopiAdd: "toyCopy(out, input)"', "the parameter other is not used"),
    ("arithmetic",
     "diopiAdd: {temporaries: {t: like input}, call: 'toyAdd(input, other, alpha, $t)'}",
     "the output out is not written by any call"),
    ("arithmetic",
     "diopiAdd: {temporaries: {t: like input}, calls: ['toyAdd($t, other, alpha, out)']}",
     "the function reads $t, whose elements no earlier call has written"),
    ("softmax", "diopiSoftmax: {temporaries: {t: int64 like input},"
     " calls: ['toyCopy($t, input)', 'toyRelu($t, out)', 'toySoftmax(input, dim, out)']}",
     "$t is int64, and the library documents float32"),
    ("arithmetic", 'diopiAdd: "toyAdd($t, other, alpha, out)"', "no temporary $t is declared"),
    ("arithmetic", 'diopiAdd: "toyAdd(@presise, other, alpha, out)"',
     "@presise is not a helper or view; close names: @precise"),
    ("arithmetic", 'diopiAdd: "toyAdd(@precise, other, alpha, out)"', "kind int does not fit"),
    ("arithmetic", 'diopiAdd: "toyAdd(select(input, 0), other, alpha, out)"',
     "select takes (tensor, int, int), and 2 arguments are given"),
    ("arithmetic", 'diopiAdd: "toyAdd(null, other, alpha, out)"', "NULL is given, and self is not"),
    ("arithmetic", 'diopiAdd: "toyAdd(input, other, alpha, out"', "cannot be read"),
    ("arithmetic", 'diopiAdd: "toyAdd(lambda: 1, other, alpha, out)"', "cannot be read"),
    ("arithmetic", 'diopiAdd: "toyAdd(input if alpha else other, other, alpha, out)"',
     "is not part of an expression here"),
    ("arithmetic", 'diopiAdd: "input"', "must be a call, as in"),
    ("arithmetic", "diopiAdd: {when: ndim(input), CALL}",
     "a condition must be a boolean or a parameter that may be NULL, not int"),
    ("arithmetic", "diopiAdd: {when: dtype(input) == 'x', CALL}",
     "dtype and string cannot be compared with =="),
    ("arithmetic", "diopiAdd: {format: NHWC, CALL}",
     "format: 'NHWC' is not one of ND, NCHW"),
    ("arithmetic", "diopiAdd: {contiguous: alpha, CALL}",
     "contiguous: 'alpha' is not a tensor"),
    ("matmul", "diopiLinear: {unused: [bias], call: 'toyMatmul(input, @ones_if_null(weight, input),"
     " out, 0)'}", "@ones_if_null takes (tensor?, tensor, int), and 2 arguments are given"),
    ("arithmetic", "diopiAdd: {upcast: alpha, CALL}", "upcast: 'alpha' is not a tensor"),
    ("matmul", "diopiLinear: [{when: bias, call: 'toyAddmm(bias, input, weight, out)'},"
     " {call: 'toyMatmul(input, t(weight), out, 0)'}]",
     "diopiLinear, case 2: the parameter bias is not used"),
    ("random", "diopiNormalTensorScalar: '@draw_normal(generator, 0, std, mean)'",
     "@draw_normal: the function writes an argument, and mean is an input of the operator"),
    ("bernoulli", "diopiBernoulli: '@draw_bernoulli_of(generator, out, out)'",
     "@draw_bernoulli_of: the function reads out, whose elements no earlier call has written"),
    ("arithmetic", "diopiAdd: {dtypes: {input: [half]}, CALL}",
     "dtypes: 'half' is not a dtype"),
    ("arithmetic", "diopiAdd: {cal: 'toyAdd(input, other, alpha, out)'}",
     "unknown key 'cal'; close names: call, calls; correct or remove it; the keys are call, "),
    ("arithmetic", "diopiAdd: {when: alpha}", "needs exactly one of 'call', 'calls', 'function'"),
    ("arithmetic", "diopiAdd: []", "has no case"),
    ("arithmetic", "diopiAdd: {each: alpha, CALL}",
     "each must be an integer"),
    ("arithmetic", "diopiAdd: {function: 'a b'}", "'a b' is not a C++ function"),
    ("arithmetic", "diopiAdd: 1\ndiopiAdd: 2", "arithmetic.yaml:2: diopiAdd: occurs twice"),
    ("arithmetic", "diopiAdd: [", "arithmetic.yaml:"),
    ("arithmetic", "diopiAd: 'toyAdd(input, other, alpha, out)'",
     "is not an operator of the contract; close names: diopiAdd"),
    ("softmax", "diopiAdd: 'toyAdd(input, other, alpha, out)'",
     "belongs to the family arithmetic; move it to operators/arithmetic.yaml"),
    ("softmax", "diopiSoftmax: 'toySoftmax(input, 1.5, out)'",
     "a value of kind double does not fit"),
    ("matmul", "diopiLinear: 'toyAddmm(bias, input, t(weight), out)'",
     "bias may be NULL, and self is not optional; add a condition 'when', or a helper"),
    ("copy", "diopiCastDtype: 'toyCast(input, 3, out)'", "kind int does not fit the type toyDtype"),
]  # fmt: skip


@pytest.mark.parametrize(("family", "text", "message"), MISTAKES)
def test_mistake_is_named_with_its_place(
    tmp_path: Path, family: str, text: str, message: str
) -> None:
    found = findings(project(tmp_path / "toy", **{family: text.replace("CALL", CALL) + "\n"}))
    assert any(message in line for line in found), found
    assert all(line.startswith(f"toy/operators/{family}.yaml:") for line in found)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("shape: two_phase", "shape: three", "library.yaml:2: shape: must be one of two_phase"),
        ("name: toy\n", "", "the key 'name' is missing"),
        ("toyDtype: dtype", "toyDtype: number", "types, toyDtype: 'number' is not one of"),
        ("{float32: 0, int64: 9}", "{float32: 9,\n  int64: 9}",
         "library.yaml:10: dtypes: float32 and int64 have the same number, 9; give each the"),
        ("{ND: 2, NCHW: 0}", "{ND: 2, NCHW: 2}", "formats: ND and NCHW have the same number, 2"),
        ("{ND: 2, NCHW: 0}", "{ND: 2, NCHW: -1}", "formats: NCHW has the number -1; remove it"),
        ("toyDtype: dtype}", "toyDtype: dtype, const  toyTensor *: scalar}",
         "types: const toyTensor* occurs twice"),
        ("{float32: 0", "{float: 0", "'float' is not a dtype"),
        ("copy: toyCopy", "copy: toyCopies", "copy: toyCopies is not in the signature table"),
        ("returns: int", "returns: integer", "helper @precise: 'integer' is not a kind of value"),
        ("4: NCHW", "4: NHWC", "'NHWC' is not in the table of formats"),
    ],
)  # fmt: skip
def test_mistake_in_the_library_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    folder = project(tmp_path / "toy")
    assert old in LIBRARY
    (folder / "library.yaml").write_text(LIBRARY.replace(old, new))
    with pytest.raises(DataError, match=re.escape(message)):
        load(folder, "toy")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('{"f": {}}', '"arguments"'),
        ('{"f": {"arguments": [{"name": "x"}]}}', 'needs "name" and "type"'),
        ('{"f": {"arguments": [{"name": "x", "type": "int", "io": "up"}]}}', "io must be one of"),
        ('{"f": {"arguments": [{"name": "x", "type": "int", "dtypes": ["half"]}]}}', "not a dtype"),
        ('{"f": {"arguments": [{"name": "x", "type": "int", "kind": 1}]}}', "unknown key 'kind'"),
        ('{"a b": {"arguments": []}}', "cannot be the name of a C function"),
        ("[]", "must be an object"),
        ("{", "is not valid JSON"),
    ],
)
def test_mistake_in_the_signatures_is_named(tmp_path: Path, entry: str, message: str) -> None:
    folder = project(tmp_path / "toy")
    (folder / "signatures.json").write_text(entry)
    with pytest.raises(DataError, match=re.escape(message)):
        load(folder, "toy")


def test_columns_are_those_of_the_text() -> None:
    with pytest.raises(ExpressionError) as raised:
        parse("@f($a, 'τ', b ** 2)")
    assert raised.value.column == 15
    step = parse_step("f(from, is) if x")
    assert step.call.arguments[0] == Name(2, "from") and step.condition == Name(15, "x")

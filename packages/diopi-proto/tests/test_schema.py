"""The schema as data: complete, consistent, frozen, and quick to read."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from diopi_proto import schema
from diopi_proto.schema import Operator, Parameter

ABI = Path(__file__).resolve().parent / "abi"
OPERATORS = schema.load()
ALL = [pytest.param(operator, id=name) for name, operator in OPERATORS.items()]

# Operators that store handles, with the number of handles; others take arrays from the caller.
STORED = {
    "diopiContiguous": 1,
    "diopiCustomizedFlashAttention": 4,
    "diopiCustomizedFlashAttentionVarLen": 4,
    "diopiDiffIouRotatedSortVerticesMmcv": 1,
    "diopiDynamicPointToVoxelMmcv": 4,
    "diopiFusedBiasLeakyreluMmcv": 1,
    "diopiFusedIndiceConvBatchnormMmcv": 1,
    "diopiIndex": 1,
    "diopiIndiceConvBackwardMmcv": 2,
    "diopiIndiceConvMmcv": 1,
    "diopiIndiceMaxpoolBackwardMmcv": 1,
    "diopiIndiceMaxpoolMmcv": 1,
    "diopiMaskedSelect": 1,
    "diopiMsDeformAttnMmcv": 1,
    "diopiNativeMemoryFormatCast": 1,
    "diopiNms": 1,
    "diopiNmsMmcv": 1,
    "diopiNmsRotatedMmcv": 1,
    "diopiNonzero": 1,
    "diopiUnique": 2,
    "diopiUpfirdn2dOpMmcv": 1,
}
# In-place by name, but the old contents are not read.
OVERWRITING = {
    "diopiCopyInp",
    "diopiNormalInp",
    "diopiRandomInp",
    "diopiUniformInp",
    "diopiZeroInp",
}


def tensors(operator: Operator) -> list[Parameter]:
    return [p for p in operator.params if p.is_tensor or p.is_tensor_pointer]


def test_every_operator_of_every_header_is_there() -> None:
    """The number of DIOPI's operators is fixed; functions_dl.h grows."""
    count = Counter(op.header for op in OPERATORS.values() if op.header != "functions_dl.h")
    assert count == {
        "functions.h": 396,
        "functions_ext.h": 27,
        "functions_mmcv.h": 94,
        "functions_lmdeploy.h": 20,
        "functions_sparse.h": 1,
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [("", 0xCBF29CE484222325), ("a", 0xAF63DC4C8601EC8C), ("foobar", 0x85944171F73967E8)],
)
def test_fnv1a_gives_the_published_values(text: str, value: int) -> None:
    assert schema.fnv1a_64(text) == value


def test_canonical_signature_leaves_out_names_and_outer_const() -> None:
    assert schema.canonical_signature(OPERATORS["diopiSplitWithSizes"]) == (
        "diopiError_t diopiSplitWithSizes(diopiContextHandle_t, diopiTensorHandle_t*, int64_t, "
        "diopiConstTensorHandle_t, diopiSize_t, int64_t)"
    )
    assert "const diopiScalar_t*" in schema.canonical_signature(OPERATORS["diopiAddScalar"])


def test_signatures_are_the_frozen_ones() -> None:
    lines = (ABI / "signatures.expected").read_text(encoding="utf-8").splitlines()
    frozen = {line for line in lines if not line.startswith("#")}
    current = {
        f"{schema.fingerprint(op):016x} {schema.canonical_signature(op)}"
        for op in OPERATORS.values()
    }
    assert current == frozen


def test_fingerprints_differ_and_match_their_signatures() -> None:
    assert len({op.fingerprint for op in OPERATORS.values()}) == len(OPERATORS)
    for operator in OPERATORS.values():
        assert operator.fingerprint == schema.fingerprint(operator)


@pytest.mark.parametrize("operator", ALL)
def test_operator_is_consistent(operator: Operator) -> None:
    names = {p.name for p in operator.params}
    assert operator.params[0] == Parameter("ctx", "diopiContextHandle_t")
    for parameter in operator.params:
        constant = parameter.value_type.startswith(("const ", "diopiConst"))
        assert not (constant and parameter.direction != "in"), parameter.name
        handles = parameter.is_tensor_pointer or parameter.type == "diopiGeneratorHandle_t*"
        assert (parameter.allocated_by is not None) == handles, parameter.name
        assert (parameter.counted_by is not None) == handles, parameter.name
        assert parameter.allocated_by != "vendor" or parameter.direction == "out", parameter.name
        assert isinstance(parameter.counted_by, int | None) or parameter.counted_by in names
        assert set(parameter.may_alias) <= names, parameter.name
        assert (parameter.dtype is not None) == (parameter in tensors(operator)), parameter.name
        assert not parameter.nullable_entries or parameter.allocated_by, parameter.name


@pytest.mark.parametrize("operator", ALL)
def test_documentation_names_what_exists(operator: Operator) -> None:
    names = {p.name for p in operator.params}
    texts = [operator.doc, *(p.doc for p in operator.params)]
    assert operator.doc.endswith((".", "…"))
    for text in texts:
        assert text.count("`") % 2 == 0, text
        for quoted in re.findall(r"`([^`]*)`", text):
            for word in re.findall(r"[A-Za-z_]\w*", quoted):
                assert word in names, f"{operator.name}: {word}"
        for other in re.findall(r"\bdiopi[A-Z]\w*", text):
            known = other in OPERATORS or other in ("diopiNoImplement", "diopiDtypeNotSupported")
            assert known, f"{operator.name}: {other}"


@pytest.mark.parametrize("operator", ALL)
def test_operator_has_an_effect(operator: Operator) -> None:
    if operator.name != "diopiTensorDestructionHook":
        assert operator.outputs


def test_stored_handles_are_exactly_the_known_ones() -> None:
    found = {}
    for operator in OPERATORS.values():
        stored = [p.counted_by for p in operator.params if p.allocated_by == "vendor"]
        if stored:
            found[operator.name] = sum(count for count in stored if isinstance(count, int))
    assert found == STORED


def test_in_place_operators_read_and_write_what_their_siblings_read() -> None:
    in_place = [op for op in OPERATORS.values() if op.in_place_of]
    assert len(in_place) > 80
    for operator in in_place:
        sibling = OPERATORS[operator.in_place_of or ""]
        written = [p for p in operator.params if p.direction == "inout" and p in tensors(operator)]
        assert written[0] == tensors(operator)[0], operator.name
        mutable = {"diopiTensorHandle_t", "diopiTensorHandle_t*"}
        assert written[0].type in mutable, operator.name
        theirs = iter([p.value_type for p in sibling.params])
        assert all(p.value_type in theirs for p in operator.params[2:]), operator.name


def test_names_that_say_in_place_have_a_tensor_that_changes() -> None:
    for operator in OPERATORS.values():
        if not re.search("Inp(?!ut)", operator.name):
            continue
        directions = {p.direction for p in tensors(operator)}
        if operator.name in OVERWRITING:
            assert directions <= {"in", "out"}, operator.name
        else:
            assert "inout" in directions, operator.name


def test_generators_always_advance() -> None:
    for operator in OPERATORS.values():
        for parameter in operator.params:
            if parameter.type.startswith("diopiGeneratorHandle_t"):
                assert parameter.direction == "inout", operator.name


def test_gradients_name_an_operator_that_is_no_gradient() -> None:
    gradients = [op for op in OPERATORS.values() if op.gradient_of]
    backward = [name for name in OPERATORS if re.search(r"[Bb]ackward", name)]
    assert {op.name for op in gradients} == {*backward, "diopiCol2Im"}
    for operator in gradients:
        assert OPERATORS[operator.gradient_of or ""].gradient_of is None, operator.name


def test_nullability_covers_what_libraries_are_known_to_accept() -> None:
    lines = (ABI / "nullable.expected").read_text(encoding="utf-8").splitlines()
    known = [line.split() for line in lines if not line.startswith("#")]
    assert len(known) > 40
    for name, *parameters in known:
        for parameter in map(OPERATORS[name].parameter, parameters):
            assert parameter.nullable or parameter.nullable_entries, f"{name}({parameter.name})"


def test_pointers_to_one_number_are_optional() -> None:
    for operator in OPERATORS.values():
        for parameter in operator.params:
            if parameter.type in ("const int64_t*", "const double*", "const bool*"):
                assert parameter.nullable, f"{operator.name}({parameter.name})"


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("diopiEqual", {"out": "out"}),
        ("diopiClipGradNorm", {"out": "out", "grads": "inout"}),
        ("diopiCopyInp", {"dest": "out"}),
        ("diopiLinalgQR", {"Q": "out", "R": "out"}),
        ("diopiMultiHeadAttentionBackward", dict.fromkeys(("grad_q", "grad_k", "grad_v"), "out")),
        (
            "diopiMultiHeadAttentionVarLenBackward",
            dict.fromkeys(("grad_q", "grad_k", "grad_v"), "out"),
        ),
        ("diopiGetNativeMemoryFormat", {"format": "out"}),
        ("diopiTensorDestructionHook", {}),
        ("diopiStopWordsCriterion", {"finished": "inout"}),
        ("diopiSigmoidFocalLossBackward", {"grad_input": "out"}),
        ("diopiDeformConvBackwardParametersMmcv", {"gradWeight": "inout"}),
        ("diopiNativeMemoryFormatCast", {"out": "out"}),
        (
            "diopiMultiHeadAttention",
            dict.fromkeys(("softmax_lse", "out", "debug_attn_mask"), "out"),
        ),
        ("diopiRotaryEmbeddingV2", {"query": "inout", "key": "inout"}),
        ("diopiFill", {"input": "out"}),
        ("diopiSgd", dict.fromkeys(("param", "grad", "buf"), "inout")),
        (
            "diopiBatchNorm",
            {
                **dict.fromkeys(("out", "save_mean", "save_invstd"), "out"),
                **dict.fromkeys(("running_mean", "running_var"), "inout"),
            },
        ),
    ],
)
def test_directions_of_irregular_operators(name: str, written: dict[str, str]) -> None:
    operator = OPERATORS[name]
    assert {p.name: p.direction for p in operator.outputs} == written


def test_arrays_know_their_counter_and_counters_their_arrays() -> None:
    operator = OPERATORS["diopiForeachaddScalar"]
    assert operator.count_of("inputSize") == ("outs", "inputs")
    assert operator.parameter("outs").counted_by == "inputSize"
    with pytest.raises(KeyError, match="diopiForeachaddScalar has no parameter 'size'"):
        operator.parameter("size")


def test_dtype_groups_expand_in_order_without_repetition() -> None:
    assert schema.expand_dtypes("float, float32, bool") == (
        *("float16", "bfloat16", "float32", "float64"),
        "bool",
    )
    assert schema.expand_dtypes("any, int64", "float64") == ("float64", "int64")
    with pytest.raises(ValueError, match="'half' in 'half, bool'"):
        schema.expand_dtypes("half, bool")


def test_operators_are_immutable_and_built_once() -> None:
    assert schema.load() is OPERATORS
    assert OPERATORS["diopiAdd"] is OPERATORS["diopiAdd"]
    with pytest.raises(FrozenInstanceError):
        OPERATORS["diopiAdd"].header = "other.h"  # type: ignore[misc]
    with pytest.raises(KeyError):
        OPERATORS["diopiNothing"]


def test_reading_the_schema_loads_neither_yaml_nor_torch_nor_numpy() -> None:
    code = (
        "import sys, diopi_proto.schema as s; s.load()['diopiAdd'];"
        "print([m for m in ('yaml', 'torch', 'numpy', 'cffi') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"

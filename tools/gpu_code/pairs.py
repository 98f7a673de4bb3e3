"""Pairs of our kernels and torch's: for an operator and a dtype, patterns of kernel names.

Patterns are matched against names without namespaces: our names begin like
``item_kernel<ElementwiseItem<AddOp<float>, float, float, float> >``, torch's like
``vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, …``. If several kernels match, the report
takes the one with the widest accesses and the fewest instructions per element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tools.gpu_code.paths import Unit

# C++ names of element types, in our kernels and in torch's, by dtype.
OURS = {
    "float32": "float",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float64": "double",
    "int32": "int",
    "int64": "long",
    "int8": "signed char",
    "bool": "Bool",
}
TORCH = {**OURS, "float16": "c10::Half", "bfloat16": "c10::BFloat16", "bool": "bool"}
CUTLASS = {"float16": "half_t", "bfloat16": "bfloat16_t"}
BYTES = {
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "float64": 8,
    "int32": 4,
    "int64": 8,
    "int8": 1,
    "bool": 1,
}
COMPUTE = {**OURS, "float16": "float", "bfloat16": "float", "bool": "bool"}
FLOATS = ("float32", "float16", "bfloat16")
# Types of elements that are only copied, by their size in bytes.
BITS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long"}
# Classes whose hot paths must move 16 bytes at a time, or 8 for elements of two bytes.
VECTOR_CLASSES = ("elementwise", "copy", "activation", "compare", "optimiser", "random")


@dataclass(frozen=True)
class Pair:
    """Kernel of ours and the kernel of torch with which it is compared.

    :ivar kind: class of the kernels, for the report.
    :ivar ours: family and pattern.
    :ivar torch: library and pattern.
    :ivar unit: unit of our kernel; torch's is the same unless `torch_unit` is given.
    """

    operator: str
    dtype: str
    kind: str
    ours: tuple[str, str]
    torch: tuple[str, str]
    unit: Unit
    torch_unit: Unit | None = None

    @property
    def key(self) -> str:
        return f"{self.operator} {self.dtype}"

    @property
    def wide(self) -> int:
        """Return the minimum width in bytes of the widest load and store on the hot path; 0:
        any."""
        if self.kind not in VECTOR_CLASSES:
            return 0
        return 16 if self.dtype in ("float32", "float64", "int32", "int64") else 8


def elementwise(functor: str, *types: str) -> str:
    """Return the pattern of our kernels of a functor on output and inputs."""
    return re.escape(f"{functor}, {', '.join(types)}>")


def vectorized(functor: str, types: str = "") -> str:
    """Return the pattern of torch's kernels of a functor for dense operands, or of a lambda's
    types."""
    lambdas = rf".*\{{lambda\({re.escape(types)}\)#1\}}, std::array" if types else ""
    return rf"^vectorized_elementwise_kernel<\d+, {functor}{lambdas}"


def stored(dtype: str, arrays: int = 1) -> Unit:
    return Unit("stored", BYTES[dtype] * arrays)


def loaded(dtype: str, arrays: int = 1) -> Unit:
    return Unit("loaded", BYTES[dtype] * arrays)


LIBRARY = "libtorch_cuda"
CUBLAS = "libcublasLt"
CUDNN = "libcudnn_engines_precompiled"


def _unary() -> Iterator[Pair]:
    table = (
        # operator, class, family, functor, torch's function
        ("exp", "elementwise", "exponential", "ExpOp", "exp_kernel_cuda"),
        ("log", "elementwise", "exponential", "LogOp", "log_kernel_cuda"),
        ("sin", "elementwise", "trigonometry", "SinOp", "sin_kernel_cuda"),
        ("tanh", "activation", "activation_smooth", "TanhOp", "tanh_kernel_cuda"),
        ("sigmoid", "activation", "activation_smooth", "SigmoidOp", "sigmoid_kernel_cuda"),
        ("silu", "activation", "activation_smooth", "SiluOp", "silu_kernel"),
        (
            "gelu",
            "activation",
            "activation_smooth",
            "GeluOp",
            r"GeluCUDAKernelImpl\(.*\)::\{lambda\(\)#2\}::operator\(\)\(\) const::\{lambda\(\)",
        ),
        (
            "gelu tanh",
            "activation",
            "activation_smooth",
            "GeluTanhOp",
            r"GeluCUDAKernelImpl\(.*\)::\{lambda\(\)#1\}::operator\(\)\(\) const::\{lambda\(\)",
        ),
    )
    for operator, kind, family, functor, theirs in table:
        for dtype in FLOATS:
            own = OURS[dtype]
            if functor == "GeluOp" and dtype == "bfloat16":
                whole = "GeluOfBFloat16Op"
            else:
                whole = f"{functor}<{COMPUTE[dtype]}>"
            pattern = vectorized(theirs, TORCH[dtype])
            yield Pair(
                operator,
                dtype,
                kind,
                (family, elementwise(whole, own, own)),
                (LIBRARY, pattern),
                stored(dtype),
            )


def _gradients() -> Iterator[Pair]:
    table = (
        ("silu gradient", "SiluBackwardOp", "silu_backward_kernel"),
        ("tanh gradient", "TanhBackwardOp", "tanh_backward_kernel_cuda"),
        ("sigmoid gradient", "SigmoidBackwardOp", "sigmoid_backward_kernel_cuda"),
        (
            "gelu gradient",
            "GeluBackwardOp",
            r"GeluBackwardCUDAKernelImpl\(.*\)::\{lambda\(\)#2\}::operator\(\)\(\) const::",
        ),
    )
    for operator, functor, theirs in table:
        for dtype in FLOATS:
            own, other = OURS[dtype], TORCH[dtype]
            yield Pair(
                operator,
                dtype,
                "activation",
                ("activation_smooth", elementwise(f"{functor}<{COMPUTE[dtype]}>", own, own, own)),
                (LIBRARY, vectorized(theirs, f"{other}, {other}")),
                stored(dtype),
            )


def _binary() -> Iterator[Pair]:
    multiply = r"BinaryFunctor<{t}, {t}, {t}, binary_internal::MulFunctor<{c}> >, std::array"
    table = (
        ("add", "AddOp", r"CUDAFunctor_add<{t}>, std::array"),
        ("mul", "MulOp", multiply),
    )
    for operator, functor, theirs in table:
        for dtype in (*FLOATS, "int64"):
            own, other = OURS[dtype], TORCH[dtype]
            pattern = theirs.format(t=other, c=COMPUTE[dtype])
            yield Pair(
                operator,
                dtype,
                "elementwise",
                ("arithmetic", elementwise(f"{functor}<{COMPUTE[dtype]}>", own, own, own)),
                (LIBRARY, vectorized(pattern)),
                stored(dtype),
            )
    for dtype in FLOATS:
        own, other = OURS[dtype], TORCH[dtype]
        yield Pair(
            "div",
            dtype,
            "elementwise",
            ("division", elementwise(f"DivOp<{COMPUTE[dtype]}>", own, own, own)),
            (
                LIBRARY,
                vectorized(
                    rf"BinaryFunctor<{other}, {other}, {other}, binary_internal::"
                    rf"DivFunctor<{other}> >, std::array"
                ),
            ),
            stored(dtype),
        )
        yield Pair(
            "addcmul",
            dtype,
            "elementwise",
            ("ternary", elementwise(f"AddcmulOp<{COMPUTE[dtype]}>", own, own, own, own)),
            (LIBRARY, vectorized("addcmul_cuda_kernel", f"{other}, {other}, {other}")),
            stored(dtype),
        )


def _selection() -> Iterator[Pair]:
    for dtype, bits in (("float32", "unsigned int"), ("float16", "unsigned short")):
        theirs = f"bool, {bits}, {bits}"
        yield Pair(
            "where",
            dtype,
            "elementwise",
            ("where", elementwise("WhereOp", bits, "Bool", bits, bits)),
            (LIBRARY, vectorized("where_kernel_impl", theirs)),
            stored(dtype),
        )
    for dtype in FLOATS:
        own, other = OURS[dtype], TORCH[dtype]
        for operator, functor, pattern in (
            ("lt", "LtOp", rf"CompareFunctor<{other}>, std::array"),
            (
                "eq",
                "EqOp",
                rf"BinaryFunctor<{other}, {other}, bool, CompareEqFunctor<{other}> >, std::array",
            ),
        ):
            yield Pair(
                operator,
                dtype,
                "compare",
                ("comparison", elementwise(f"{functor}<{COMPUTE[dtype]}>", "Bool", own, own)),
                (LIBRARY, vectorized(pattern)),
                stored("bool"),
            )


def _copies() -> Iterator[Pair]:
    for to, kernel in (("float16", "float16_copy_kernel_cuda"), ("bfloat16", "bfloat16_copy_ker")):
        yield Pair(
            "cast from float32",
            to,
            "copy",
            ("copy", rf"(?:CastOp<float, float>|CastPiece|Cast\w*), {OURS[to]}, float>"),
            (LIBRARY, vectorized(f"{kernel}.*", "float")),
            stored(to),
        )
    # Dense arrays are copied by the driver; a kernel copies by the elements' width.
    for dtype in ("float32", "float16"):
        bits = BITS[BYTES[dtype]]
        yield Pair(
            "copy",
            dtype,
            "copy",
            ("copy", elementwise("IdentityOp", bits, bits)),
            (LIBRARY, vectorized("direct_copy_kernel_cuda", TORCH[dtype])),
            loaded(dtype),
        )
        yield Pair(
            "fill",
            dtype,
            "copy",
            ("copy", rf"(?:IdentityOp, {bits}, {bits}>|FillItem<{bits}>)"),
            (LIBRARY, vectorized(rf"FillFunctor<{TORCH[dtype]}>, std::array")),
            stored(dtype),
        )


def _lists() -> Iterator[Pair]:
    for dtype in FLOATS:
        other = TORCH[dtype]
        yield Pair(
            "AdamW of a list",
            dtype,
            "optimiser",
            ("optimizer", rf"AdamRow<{OURS[dtype]}(?:, false)?>"),
            (
                LIBRARY,
                rf"^multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<4>, "
                rf"FusedAdamMathFunctor<{other}, 4, \(ADAM_MODE\)1, false>",
            ),
            # Both read parameter, gradient and averages; torch can write the gradient too.
            loaded(dtype, 4),
        )
        yield Pair(
            "add a scalar to a list",
            dtype,
            "optimiser",
            (
                "arithmetic",
                elementwise(f"AddOp<{COMPUTE[dtype]}>", OURS[dtype], OURS[dtype], "float"),
            ),
            (
                LIBRARY,
                rf"^multi_tensor_apply_kernel<TensorListMetadata<2>, "
                rf"BinaryOpScalarFunctor<{other}, 2, 1, 1>, std::plus",
            ),
            stored(dtype),
        )


def _random() -> Iterator[Pair]:
    grid = "^distribution_elementwise_grid_stride_kernel<float, 4, templates::cuda::"
    for dtype in ("float32", "float16"):
        own, other = OURS[dtype], TORCH[dtype]
        yield Pair(
            "uniform",
            dtype,
            "random",
            ("random", rf"Uniform(?:Put|Draw)<{own}>"),
            (LIBRARY, rf"{grid}uniform_and_transform<{other}, .*uniform_kernel<"),
            stored(dtype),
        )
        yield Pair(
            "normal",
            dtype,
            "random",
            ("random", rf"NormalPut<{own}>|NormalDraw<float>, Writes<{own}>"),
            (LIBRARY, rf"{grid}normal_and_transform<{other}, .*::normal_kernel<"),
            stored(dtype),
        )
        yield Pair(
            "dropout",
            dtype,
            "random",
            ("bernoulli", rf"DropoutPut<{own}>|DropoutDraw<float>, Reads<{own}>"),
            (LIBRARY, rf"^fused_dropout_kernel_vec<{other}, float, unsigned long, 1, "),
            stored(dtype),
            Unit("stored", BYTES[dtype] + 1),
        )


def _rows() -> Iterator[Pair]:
    for dtype in FLOATS:
        own, other = OURS[dtype], TORCH[dtype]
        sums = rf"^reduce_kernel<512, 1, ReduceOp<{other}, func_wrapper_t<{other}, sum_functor"
        yield Pair(
            "sum",
            dtype,
            "reduction",
            ("reduction", rf"^reduce_rows_kernel<{own}, SumReducer<"),
            (LIBRARY, sums),
            loaded(dtype),
        )
        yield Pair(
            "max of all",
            dtype,
            "reduction",
            ("reduction", rf"^reduce_rows_kernel<{own}, \w*Max\w*<"),
            (LIBRARY, rf"^reduce_kernel<512, 1, ReduceOp<{other}, func_wrapper_t<{other}, MaxNan"),
            loaded(dtype),
        )
        yield Pair(
            "softmax",
            dtype,
            "softmax",
            ("softmax", rf"^register_rows_kernel<SoftmaxForward<{own}, {own}>, "),
            (
                LIBRARY,
                rf"^cunn_SoftMaxForward\w*<(?:\d+, )?{other}, float, {other}, "
                r"SoftMaxForwardEpilogue",
            ),
            stored(dtype),
        )
        yield Pair(
            "softmax gradient",
            dtype,
            "softmax",
            ("softmax", rf"^register_rows_kernel<SoftmaxBackward<{own}, {own}>, "),
            (LIBRARY, rf"^cunn_SoftMaxBackward\w*<.*{other}, float, {other}, SoftMaxBackwardEpil"),
            stored(dtype),
        )
        yield Pair(
            "layer norm",
            dtype,
            "norm",
            ("layer_norm", rf"^register_rows_kernel<NormForward<{own}, false>, "),
            (LIBRARY, rf"^vectorized_layer_norm_kernel<{other}, float, false>"),
            stored(dtype),
        )
        yield Pair(
            "layer norm gradient",
            dtype,
            "norm",
            ("layer_norm", rf"^register_rows_kernel<NormBackward<{own}>, "),
            (LIBRARY, rf"^layer_norm_grad_input_kernel_vectorized<{other}, float, false>"),
            stored(dtype),
        )
        yield Pair(
            "rms norm",
            dtype,
            "norm",
            ("rms_norm", rf"^register_rows_kernel<NormForward<{own}, false>, "),
            (LIBRARY, rf"^vectorized_layer_norm_kernel<{other}, float, true>"),
            stored(dtype),
        )
        yield Pair(
            "cumsum",
            dtype,
            "scan",
            ("cumulative", rf"^row_kernel<CumulativePiece<{own}> >"),
            (LIBRARY, rf"^tensor_kernel_scan_innermost_dim<{other}, std::plus<{other}> >"),
            stored(dtype),
        )


def _indexes() -> Iterator[Pair]:
    for dtype in ("float32", "float16"):
        own, other = OURS[dtype], TORCH[dtype]
        bits = BITS[BYTES[dtype]]
        yield Pair(
            "index_select",
            dtype,
            "index",
            ("gather", r"\bTakePiece<Unit16>"),
            (
                LIBRARY,
                rf"^(?:indexSelectLargeIndex<{other}, long|vectorized_gather_kernel<16, long)",
            ),
            stored(dtype),
        )
        yield Pair(
            "gather",
            dtype,
            "index",
            ("gather", rf"\bGatherRow<{bits}>"),
            (
                LIBRARY,
                r"^_scatter_gather_elementwise_kernel<.*_cuda_scatter_gather_internal_kernel"
                rf"<false, OpaqueType<{BYTES[dtype]}>",
            ),
            stored(dtype),
        )
        yield Pair(
            "embedding gradient",
            dtype,
            "index",
            ("embedding", rf"^item_kernel<EmbeddingRunItem<{own}> >"),
            (LIBRARY, rf"^embedding_backward_feature_kernel<{other}, float, long>"),
            Unit("loaded", BYTES[dtype]),
        )
    yield Pair(
        "sort",
        "float32",
        "sort",
        ("sort", r"^(?!item_kernel<ItemFromRow)"),
        (LIBRARY, r"^(?:bitonicSortKVInPlace|radixSortKVInPlace)<.*float"),
        Unit("loaded", 4),
    )


def _products() -> Iterator[Pair]:
    each = Unit("multiply-adds")
    # cuBLAS's other kernels are packed in a proprietary format, so that the half-precision kernels
    # are torch's own, for nested tensors.
    gemms = {
        "float32": (CUBLAS, r"^sgemm_largek_lds64<"),
        "float16": (LIBRARY, r"GemmGrouped\w*?MmaMultistageI\w*?_6half_t"),
        "bfloat16": (LIBRARY, r"GemmGrouped\w*?MmaMultistageI\w*?_10bfloat16_t"),
    }
    # cuDNN's only float32 kernels use tensor cores, so that the product is compared.
    convolutions = {
        "float32": gemms["float32"],
        "float16": (CUDNN, r"cutlass_tensorop_f16_s16816fprop_optimized_f16_128x128_32x\d_nhwc"),
        "bfloat16": (CUDNN, r"cutlass_tensorop_bf16_s16816fprop_optimized_bf16_128x128_32x\d_n"),
    }
    for dtype, theirs in gemms.items():
        own = OURS[dtype]
        # For float32, the kernel that computes in float32: the other one rounds to TF32.
        kernel = "simt" if dtype == "float32" else "tensor"
        ours = ("part_gemm", rf"^{kernel}_product_kernel<{own}, ")
        yield Pair("matmul", dtype, "product", ours, theirs, each)
        yield Pair(
            "convolution",
            dtype,
            "product",
            ("part_convolve", rf"^\w*product_kernel<{own}, .*WindowSource<{own}>"),
            convolutions[dtype],
            each,
        )
    for dtype in FLOATS:
        own = OURS[dtype]
        if dtype == "float32":
            forward = r"^fmha_cutlassF_f32_aligned_64x128_rf_sm80"
            backward = r"^fmha_cutlassB_f32_aligned_64x64_k128_sm80"
        else:
            kind = CUTLASS[dtype]
            forward = rf"^pytorch_flash::flash_fwd_kernel<.*<64, 128, 128, 4, .*cutlass::{kind}>"
            backward = (
                r"^pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<"
                rf".*<64, 128, 128, 8, .*cutlass::{kind}>"
            )
        yield Pair(
            "attention",
            dtype,
            "attention",
            ("part_attention", rf"^\w*attention_kernel<{own}\b"),
            (LIBRARY, forward),
            each,
        )
        yield Pair(
            "attention gradient",
            dtype,
            "attention",
            ("part_attention_backward", rf"^\w*gradients?_kernel<{own}\b"),
            (LIBRARY, backward),
            each,
        )


def pairs() -> list[Pair]:
    """Return all rows of the report, in its order."""
    parts = (
        _binary,
        _unary,
        _gradients,
        _selection,
        _copies,
        _lists,
        _random,
        _rows,
        _indexes,
        _products,
    )
    return [pair for part in parts for pair in part()]


def short(name: str) -> str:
    """Return a demangled kernel name without the namespaces that all have."""
    for part in ("dl::kernels::v1::", "(anonymous namespace)::", "at::native::", "gpu::"):
        name = name.replace(part, "")
    return name.removeprefix("void ")

"""Mapping from operators of the contract to calls of torch.

An entry takes the arguments of a case by parameter, with torch tensors, and for an output ``out``
its dtype as ``out.dtype``. It returns the first output, or several by name. Each line of
``torch_functions.txt`` is an entry: the operator, torch's function, and its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from diopi_proto.schema import load

functional, aten = torch.nn.functional, torch.ops.aten
Arguments = dict[str, Any]
Call = Callable[[Arguments], Any]

LINES = Path(__file__).with_name("torch_functions.txt")

KINDS = {"none": 0, "mean": 1, "sum": 2}


def function(name: str) -> Callable[..., Any]:
    """Return a function of torch by name."""
    if name.startswith("aten."):
        found: Callable[..., Any] = getattr(aten, name[5:])
        return found
    if name.startswith("functional."):
        return getattr(functional, name[11:])  # type: ignore[no-any-return]
    for space in (torch, functional, torch.special, torch.Tensor):
        head, _, tail = name.partition(".")
        if hasattr(space, head):
            one = getattr(space, head)
            return getattr(one, tail) if tail else one
    raise AttributeError(f"torch has no {name}")


def filled(words: list[str], a: Arguments) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments that the words of a line name."""
    positional, by_name = [], {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            positional.append(a[name])
        else:
            by_name[name] = value[1:] if value.startswith("'") else a.get(value, False)
    return positional, by_name


def of_line(line: str) -> tuple[str, Call, Call | None]:
    """Return the call of the operator, and of the in-place variant if torch has one."""
    operator, name, *words = line.split()
    base = name.removeprefix("aten.")

    def call(a: Arguments) -> Any:
        positional, by_name = filled(words, a)
        return function(name)(*positional, **by_name)

    def in_place(a: Arguments) -> Any:
        positional, by_name = filled(words, a)
        method = None if name != base else getattr(torch.Tensor, f"{base}_", None)
        changed = method or getattr(aten, f"{base}_")
        changed(*positional, **by_name)
        return {words[0]: positional[0]}

    has = hasattr(torch.Tensor, f"{base}_") or hasattr(aten, f"{base}_")
    full = operator if operator.startswith("dlop") else f"diopi{operator}"
    return full, call, in_place if has and words else None


def slices(a: Arguments) -> Any:
    places = [slice(None)] * a["input"].ndim
    places[a["dim"]] = slice(a["start"], a["end"], a["step"])
    return a["input"][tuple(places)]


def adam(name: str) -> Call:
    def step(a: Arguments) -> Arguments:
        rates = {k: float(np.float32(a[k])) for k in ("lr", "eps", "weight_decay")}
        betas = tuple(float(np.float32(a[k])) for k in ("beta1", "beta2"))
        param = torch.nn.Parameter(a["param"].clone())
        param.grad = a["grad"]
        one = getattr(torch.optim, name)([param], betas=betas, amsgrad=a["amsgrad"], **rates)
        state = {"step": torch.tensor(float(a["step"] - 1)), "exp_avg": a["exp_avg"].clone()}
        state["exp_avg_sq"] = a["exp_avg_sq"].clone()
        if a["amsgrad"]:
            state["max_exp_avg_sq"] = a["max_exp_avg_sq"].clone()
        one.state[param] = state
        one.step()
        kept = ("exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if a["amsgrad"] else ()))
        return {"param": param.detach(), **{k: one.state[param][k] for k in kept}}

    return step


def attention(a: Arguments) -> Any:
    group = a["q"].shape[1] // a["k"].shape[1]
    k, v = (x.repeat_interleave(group, 1) for x in (a["k"], a["v"]))
    return functional.scaled_dot_product_attention(
        a["q"], k, v, a["mask"], is_causal=a["is_causal"], scale=a["scale"]
    )


def both(*names: str) -> Callable[[Any], Arguments]:
    """Return several results by name."""
    return lambda results: dict(zip(names, results, strict=True))


def window(name: str, n: int) -> Call:
    """Return the gradient of a pooling, with all sizes given for each dimension."""

    def call(a: Arguments) -> Any:
        def sizes(key: str) -> list[int]:
            value = [a[key]] if isinstance(a[key], int) else a[key] or ()
            return [*value] * (n if len(value) == 1 else 1)

        windows = [sizes("kernel_size"), sizes("stride") or sizes("kernel_size"), sizes("padding")]
        given = (a["grad_output"], a["input"], *windows)
        if name.startswith("avg"):
            rest = (a["ceil_mode"], a["count_include_pad"], a["divisor_override"])
            return getattr(aten, f"avg_pool{n}d_backward")(*given, *rest)
        rest = (sizes("dilation"), a["ceil_mode"])
        indices = a["indices"]
        if indices is None:
            indices = getattr(aten, f"max_pool{n}d_with_indices")(a["input"], *windows, *rest)[1]
        rest = (*rest, indices)
        return getattr(aten, f"max_pool{n}d_with_indices_backward")(*given, *rest)

    return call


def pooled(n: int) -> Call:
    def call(a: Arguments) -> Any:
        kind = getattr(functional, f"max_pool{n}d_with_indices")
        windows = (a["kernel_size"], a["stride"] or None, a["padding"], a["dilation"])
        return both("out", "indices")(kind(a["input"], *windows, a["ceil_mode"]))

    return call


def adaptive(n: int) -> Call:
    kind = f"adaptive_max_pool{n}d_with_indices"
    return lambda a: both("out", "indices")(getattr(functional, kind)(a["input"], a["output_size"]))


def convolved(n: int, transposed: bool) -> Call:
    """Return the gradients of a convolution."""

    def call(a: Arguments) -> Arguments:
        mask = [True, True, a["bias_sizes"] is not None]
        padding = a["output_padding"] if transposed else [0] * n
        found = aten.convolution_backward(
            *(a[k] for k in ("grad_output", "input", "weight")),
            a["bias_sizes"],
            *([*a[k]] * (n if len(a[k]) == 1 else 1) for k in ("stride", "padding", "dilation")),
            transposed,
            [*padding] * (n if len(padding) == 1 else 1),
            a["groups"],
            mask,
        )
        names = ("grad_input", "grad_weight", "grad_bias")
        return {k: x for k, x in zip(names, found, strict=True) if x is not None}

    return call


def batch_norm(a: Arguments) -> Arguments:
    names = ("weight", "bias", "running_mean", "running_var")
    out = functional.batch_norm(
        a["input"],
        a["running_mean"],
        a["running_var"],
        a["weight"],
        a["bias"],
        a["training"],
        a["momentum"],
        a["eps"],
    )
    kept = {k: a[k] for k in names[2:] if a[k] is not None}
    return {"out": out, **kept}


def dims(a: Arguments) -> Any:
    dim = a["dim"]
    return None if dim is None or dim == () else dim


def reduced(kind: Callable[..., Any], a: Arguments, **options: Any) -> Any:
    """Reduce over one dimension, or over all if none is given."""
    dims = () if a["dim"] is None else (a["dim"],)
    return kind(a["input"], *dims, **options)


def nll_loss_v2(a: Arguments) -> Arguments:
    planes = "2d" if a["input"].dim() > 2 else ""
    x, target = a["input"], a["target"]
    if x.dim() == 3:
        x, target = x.unsqueeze(-1), target.unsqueeze(-1)
    loss, total = getattr(aten, f"nll_loss{planes}_forward")(
        x, target, a["weight"], KINDS[a["reduction"]], a["ignore_index"]
    )
    if loss.dim() == 3 and a["input"].dim() == 3:
        loss = loss.squeeze(-1)
    return {"out": loss, "totalWeight": total}


def rms_norm(a: Arguments) -> Any:
    if a["bias"] is not None:
        raise NotImplementedError("a bias is not supported")
    return functional.rms_norm(a["input"], a["normalized_shape"], a["weight"], a["eps"])


def embedding_backward(a: Arguments) -> Any:
    keys = ("grad", "indices", "num_weights", "padding_idx", "scale_grad_byfreq")
    return aten.embedding_dense_backward(*(a[k] for k in keys))


def cross_entropy(a: Arguments) -> Any:
    return functional.cross_entropy(
        a["input"],
        a["target"],
        a["weight"],
        # Torch supports it only for class indices.
        ignore_index=-100 if a["target"].is_floating_point() else a["ignore_index"],
        reduction=a["reduction"],
        label_smoothing=a["label_smoothing"],
    )


def gradient(forward: Call, *names: str, of: str = "grad_output") -> Call:
    """Return autograd's gradients of ``names``, as ``grad_<name>`` or as the only output."""

    def call(a: Arguments) -> Any:
        leaves = {k: a[k].detach().clone().requires_grad_() for k in names if a[k] is not None}
        out = forward({**a, **leaves})
        found = torch.autograd.grad(out, [*leaves.values()], a[of])
        if len(names) == 1:
            return found[0]
        return {f"grad_{k}": x for k, x in zip(leaves, found, strict=True)}

    return call


def scatter(a: Arguments) -> Any:
    value = a["src"] if "src" in a else a["value"]
    given = (a["input"], a["dim"], a["index"], value)
    return torch.scatter(*given, reduce=a["reduce"]) if a["reduce"] else torch.scatter(*given)


ROUNDED = {"RoundModeNone": None, "RoundModeFloor": "floor", "RoundModeTrunc": "trunc"}


def divided(a: Arguments) -> Any:
    return torch.div(a["input"], a["other"], rounding_mode=ROUNDED[a["rounding_mode"]])


def divided_in_place(a: Arguments) -> Any:
    return {"input": a["input"].div_(a["other"], rounding_mode=ROUNDED[a["rounding_mode"]])}


BY_HAND: dict[str, Call] = {
    "diopiDiv": divided,
    "diopiDivScalar": divided,
    "diopiDivInp": divided_in_place,
    "diopiDivInpScalar": divided_in_place,
    "diopiConj": lambda a: torch.conj(a["input"]).resolve_conj(),
    "diopiCat": lambda a: torch.cat([x.to(a["out.dtype"]) for x in a["tensors"]], a["dim"]),
    "diopiCastDtype": lambda a: a["input"].to(a["out.dtype"]),
    "diopiExpand": lambda a: a["input"].expand(a["out.shape"]),
    "diopiOnes": lambda a: torch.ones(a["size"], dtype=a["out.dtype"]),
    "diopiZeros": lambda a: torch.zeros(a["size"], dtype=a["out.dtype"]),
    "diopiFill": lambda a: {
        "input": torch.full(a["input.shape"], a["value"], dtype=a["input.dtype"])
    },
    "diopiSum": lambda a: torch.sum(a["input"], dims(a), dtype=a["out.dtype"]),
    "diopiMean": lambda a: torch.mean(a["input"], dims(a), dtype=a["out.dtype"]),
    "diopiProd": lambda a: reduced(torch.prod, a, dtype=a["out.dtype"]),
    "diopiAny": lambda a: reduced(torch.any, a).to(a["out.dtype"]),
    "diopiAll": lambda a: reduced(torch.all, a).to(a["out.dtype"]),
    "diopiMax": lambda a: both("max", "max_indices")(torch.max(a["input"], a["dim"])),
    "diopiMin": lambda a: both("min", "min_indices")(torch.min(a["input"], a["dim"])),
    "diopiStd": lambda a: torch.std(
        a["input"], dims(a), correction=1 if a["correction"] is None else a["correction"]
    ),
    "diopiNorm": lambda a: torch.linalg.vector_norm(
        a["input"], 2 if a["p"] is None else a["p"], dims(a)
    ),
    "diopiLinalgVecNorm": lambda a: torch.linalg.vector_norm(
        a["input"], a["ord"], dims(a), a["keepdim"]
    ),
    "diopiNormalize": lambda a: functional.normalize(a["input"], a["p"], a["axis"], a["eps"]),
    "diopiSort": lambda a: both("values", "indices")(
        torch.sort(a["input"], stable=True, dim=a["dim"], descending=a["descending"])
    ),
    "diopiTopk": lambda a: {
        "values": torch.topk(a["input"], a["k"], a["dim"], a["largest"], a["sorted"])[0]
    },
    "diopiSlice": lambda a: {"null_out": slices(a)},
    "diopiRoll": lambda a: torch.roll(a["input"], a["shifts"], a["dims"]),
    "diopiIndex": lambda a: aten.index(a["input"], a["indices"]),
    "diopiScatter": scatter,
    "diopiScatterScalar": scatter,
    "diopiPad": lambda a: functional.pad(a["input"], a["pad"], a["mode"], a["value"]),
    "diopiEmbeddingBackward": embedding_backward,
    "diopiArange": lambda a: torch.arange(a["start"], a["end"], a["step"], dtype=a["out.dtype"]),
    "diopiLinspace": lambda a: torch.linspace(
        a["start"], a["end"], a["steps"], dtype=a["out.dtype"]
    ),
    "diopiCdist": lambda a: torch.cdist(
        a["input1"], a["input2"], a["p"], "donot_use_mm_for_euclid_dist"
    ),
    "diopiCumsumBackward": lambda a: torch.flip(
        torch.cumsum(torch.flip(a["grad_output"], (a["dim"],)), a["dim"]), (a["dim"],)
    ),
    "diopiSoftmaxBackward": lambda a: aten._softmax_backward_data(
        a["grad_output"], a["output"], a["dim"], a["output"].dtype
    ),
    "diopiLogSoftmaxBackward": lambda a: aten._log_softmax_backward_data(
        a["grad_output"], a["output"], a["dim"], a["output"].dtype
    ),
    "diopiMatmulBackward": gradient(
        lambda a: torch.matmul(a["input"], a["other"]), "input", "other", of="grad_out"
    ),
    "diopiAvgPool2dBackward": window("avg", 2),
    "diopiAvgPool3dBackward": window("avg", 3),
    "diopiMaxPool2dBackward": window("max", 2),
    "diopiMaxPool3dBackward": window("max", 3),
    **{f"diopiMaxPool{n}dWithIndices": pooled(n) for n in (1, 2, 3)},
    **{f"diopiAdaptiveMaxPool{n}dWithIndices": adaptive(n) for n in (1, 2, 3)},
    **{f"diopiConvolution{n}dBackward": convolved(n, False) for n in (2, 3)},
    **{f"diopiConvTranspose{n}dBackward": convolved(n, True) for n in (2, 3)},
    "diopiBatchNorm": batch_norm,
    "diopiCrossEntropyLoss": cross_entropy,
    "diopiMSELossBackward": lambda a: aten.mse_loss_backward(
        a["grad_output"], a["input"], a["target"], KINDS[a["reduction"]]
    ),
    "diopiSmoothL1LossBackward": lambda a: aten.smooth_l1_loss_backward(
        a["grad_output"], a["input"], a["target"], KINDS[a["reduction"]], a["beta"]
    ),
    "diopiBCELossBackward": lambda a: aten.binary_cross_entropy_backward(
        a["grad_output"], a["input"], a["target"], a["weight"], KINDS[a["reduction"]]
    ),
    "diopiBCEWithLogits": lambda a: functional.binary_cross_entropy_with_logits(
        a["input"], a["target"], a["weight"], reduction=a["reduction"], pos_weight=a["pos_weight"]
    ),
    "diopiNLLLossV2": nll_loss_v2,
    "diopiUpsampleNearestBackward": lambda a: getattr(
        aten, f"upsample_nearest{len(a['out_size'])}d_backward"
    )(a["grad_output"], a["out_size"], a["in_size"]),
    "diopiUpsampleLinearBackward": lambda a: getattr(
        aten, f"upsample_{a['mode']}{len(a['out_size'])}d_backward"
    )(a["grad_output"], a["out_size"], a["in_size"], a["align_corners"]),
    "diopiGridSample": lambda a: functional.grid_sample(
        a["input"], a["grid"], a["mode"], "zeros", align_corners=False
    ),
    "diopiRMSNorm": rms_norm,
    "diopiCholesky": lambda a: both("out", "info")(
        torch.linalg.cholesky_ex(a["mat"], upper=a["upper"])
    ),
    "dlopLinalgLu": lambda a: both("lu", "pivots", "info")(torch.linalg.lu_factor_ex(a["mat"])),
    "dlopFft": lambda a: (
        a["scale"] * torch.fft.fft(a["input"], dim=a["dim"])
        if a["forward"]
        else a["scale"] * torch.fft.ifft(a["input"], dim=a["dim"], norm="forward")
    ),
    "diopiArgsort": lambda a: torch.argsort(
        a["input"],
        dim=-1 if a["dim"] is None else a["dim"],
        descending=a["descending"],
        stable=True,
    ),
    "diopiZeroInp": lambda a: {"self": torch.zeros(a["self.shape"], dtype=a["self.dtype"])},
    "diopiAdam": adam("Adam"),
    "diopiAdamW": adam("AdamW"),
    "dlopAttention": attention,
}

LEFT_OUT = {
    r"diopiSgn(Inp)?\[complex\d+-extreme": "complex infinity / modulus is NaN in both parts "
    "by complex division, and in one if each part is divided; the contract allows either",
    r"diopiMaskedSelectBackward\[.*-0-(4x0|4x1|scalar)-": "autograd, not this "
    "function of torch, reduces the gradient from the broadcast shape to the shape of the input",
}
"""Cases that torch and the contract define differently, with the reason: patterns of names."""


def as_torch(value: Any) -> Any:
    """Convert the arguments of a reference to float64, including lists."""
    if isinstance(value, np.ndarray):
        wide = {"f": np.float64, "c": np.complex128}.get(value.dtype.kind)
        dense = np.ascontiguousarray(value.astype(wide) if wide else value)
        return torch.from_numpy(dense).reshape(value.shape)
    if isinstance(value, list):
        return [as_torch(x) for x in value]
    return value


def calls() -> dict[str, Call]:
    """Return the calls of torch by operator, including in-place variants."""
    found: dict[str, Call] = dict(BY_HAND)
    changing: dict[str, Call] = {}
    for line in LINES.read_text(encoding="utf-8").splitlines()[1:]:
        operator, call, in_place = of_line(line)
        found[operator] = call
        if in_place is not None:
            changing[operator] = in_place
    for operator in load().values():
        base = operator.in_place_of
        if base in changing and operator.name not in found:
            found[operator.name] = changing[base]
    return found

"""Kinds of device-generic tests, with a description of each for the published page."""

from __future__ import annotations

OPERATORS = {
    "forward": "results, aliasing and unchanged arguments as on the CPU",
    "backward": "gradients of every argument as on the CPU",
    "gradgrad": "second gradients as on the CPU, in float64",
    "out": "out= of the right shape, empty, transposed and inside of a larger buffer",
    "out-dtype": "out= of another dtype: filled or refused as on the CPU",
    "in-place": "the in-place variant, on a tensor and on a window of one",
    "method": "the tensor's method and the Python operator behave like the function",
    "layouts": "transposed, sliced and expanded arguments",
    "sizes": "arguments without elements and without dimensions",
    "errors": "invalid arguments are refused with the same type of error as on the CPU",
    "autocast": "right results, in the dtype of autocast or a wider one",
    "save": "arguments and results survive torch.save, on dl and from and to the CPU",
    "copy": "copy.deepcopy and pickle give equal results that share no memory",
    "dlpack": "a result that is exported by DLPack is imported as the same memory",
}
MODULES = {
    "train": "results of forward() in training",
    "eval": "results of forward() in evaluation",
    "train-backward": "gradients of parameters and arguments in training",
    "eval-backward": "gradients of parameters and arguments in evaluation",
    "module-layouts": "forward() of transposed, sliced and expanded arguments",
    "module-to": "to(dl) and back keeps every parameter and buffer",
    "state-dict": "a state dict loads on the other device",
    "module-copy": "copy.deepcopy, pickle and torch.save keep the module on dl",
    "factory": "modules built with device=dl have all tensors there, with the CPU's values",
    "hooks": "hooks see the tensors of dl, as often as on the CPU",
    "module-errors": "invalid arguments are refused with the same type of error as on the CPU",
}
OPTIMIZERS = {
    "single": "three steps, one tensor at a time",
    "foreach": "three steps, on lists of tensors",
    "fused": "three steps, by the fused operator",
    "tensor-lr": "three steps with the learning rate in a tensor",
    "groups": "two groups of parameters with options of their own",
    "zero-grad": "gradients of nothing, of zeros, and zero_grad()",
    "optimizer-state": "training continues from a state dict, on the same and on the other device",
}
FOREACH = {
    "foreach-forward": "results of operators on lists of tensors",
    "foreach-in-place": "their in-place variants",
    "foreach-backward": "their gradients",
    "foreach-layouts": "lists of transposed, sliced and expanded tensors",
}
KINDS = {**OPERATORS, **MODULES, **OPTIMIZERS, **FOREACH}

NO_REFERENCE = {
    ("_chunk_cat", "sizes"),
    ("masked.median", "layouts"),
    ("nn.CTCLoss", "module-layouts"),
    ("nn.functional.ctc_loss", "layouts"),
    ("nn.functional.multi_margin_loss", "sizes"),
    ("nn.functional.multilabel_margin_loss", "sizes"),
    ("resize_", "sizes"),
    ("resize_as_", "sizes"),
}
"""Tests without a usable reference: torch's CPU (2.13) crashes, since it reads out of bounds with a
single expanded label and with 0-dimensional tensors; it reads uninitialized memory in the median
of expanded tensors and in the margin losses of no rows; and the new part of a resized tensor is
uninitialized."""

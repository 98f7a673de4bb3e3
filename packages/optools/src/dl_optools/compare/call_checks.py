"""Execution of single calls for autocompare, which copies their results and later gradients."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, cast

import torch

from diopi_proto.tolerance.torch_operators.schema import Overload, signature
from dl_optools.backward_graph import Gradients, GradientWatch, Watches
from dl_optools.call import OpCall
from dl_optools.compare.background import Background
from dl_optools.compare.call_comparison import CheckedCall
from dl_optools.compare.host_copies import HostArguments, copy_to_host
from dl_optools.compare.overwritten import find_overwritten
from dl_optools.compare.results import AutoCompareResults
from dl_optools.compare.subjects import (
    FunctionSubject,
    GradientSubject,
    OverloadSubject,
    Subject,
    function_answers,
    outputs_of,
)
from dl_optools.compare.trace import Answers, answers_of
from dl_optools.compare.waiting_arguments import Allowance, WaitingArguments
from dl_optools.modules import MODULE_PATH
from dl_optools.names import Level
from dl_optools.stacks import program_stack
from dl_optools.tensors import versions


class CallChecks:
    """Creates a :class:`.CheckedCall` of a call while it runs.

    :param background: receives the gradients of functions, which arrive long after the call.
    :param kept: limit for arguments that wait for their function's backward.
    :param patient: gradients wait for memory; otherwise they are dropped if there is none.
    :param recorded: record what a bundle of the call needs.
    """

    def __init__(
        self,
        device: str,
        background: Background[CheckedCall],
        results: AutoCompareResults,
        kept: Allowance,
        *,
        patient: bool,
        recorded: bool,
    ) -> None:
        self.device = device
        self.kept = kept
        self._background = background
        self._results = results
        self._patient = patient
        self._recorded = recorded
        self._watches = Watches()

    def detach(self) -> None:
        """Stop waiting for gradients."""
        self._watches.detach()

    def overload(
        self, call: OpCall, tensors: list[torch.Tensor], *, first: bool
    ) -> tuple[Any, CheckedCall]:
        """Run an overload.

        :param first: first call of its signature: read-only arguments are compared, too.
        """
        host = HostArguments(call, self.device, self._recorded)
        result = call.proceed()
        overload = cast("Overload[Any, Any]", call.function)
        found = answers_of(signature(overload), result, call.args, call.kwargs)
        checked = self._checked(call, OverloadSubject(overload), host, result, found, tensors)
        if first:
            checked.overwritten = find_overwritten(overload, (call.args, call.kwargs), host.tree)
        return result, checked

    def function(
        self, call: OpCall, tensors: list[torch.Tensor], size: int
    ) -> tuple[Any, CheckedCall]:
        """Run a Python function, and watch for its backward.

        :param size: bytes to count for the data that waits for backward.
        """
        host = HostArguments(call, self.device, self._recorded)
        before = versions(tensors)
        module = MODULE_PATH.current()
        watch: GradientWatch | None = None
        waiting: WaitingArguments | None = None
        if any(x.requires_grad for x in tensors) and torch.is_grad_enabled():
            if self.kept.take(size):
                waiting = WaitingArguments(host.tree)
                weakref.finalize(waiting, self.kept.give, size)
                watch = GradientWatch(tensors, self._reporter(call, waiting, module))
            else:
                self._results.count_dropped(f"{call.name} (gradients)")
        autocast = _autocast_dtype(self.device)
        result = call.proceed()
        written = [
            at
            for at, (old, new) in enumerate(zip(before, versions(tensors), strict=True))
            # Without a version counter, the tensor may have been written to.
            if old < 0 or old != new
        ]
        subject = FunctionSubject(call.function, written, autocast)
        found = function_answers(result, tensors, written)
        checked = self._checked(call, subject, host, result, found, tensors)
        checked.module = module
        if watch is not None and waiting is not None:
            waiting.written, waiting.autocast, waiting.record = written, autocast, checked.record
            if watch.attach(outputs_of(result, tensors, written)):
                self._watches.add(watch)
        return result, checked

    def _reporter(
        self, call: OpCall, waiting: WaitingArguments, module: str
    ) -> Callable[[Gradients], None]:
        name, number, function = call.name, call.number, call.function

        def report(gradients: Gradients) -> None:
            wanted = [at for at, x in enumerate(gradients.inputs) if x is not None]
            if not wanted:
                return
            size = waiting.size_with(gradients)
            if not self._background.reserve(size, wait=self._patient):
                self._results.count_dropped(f"{name} (gradients)")
                return
            incoming = [copy_to_host(x) for x in gradients.outputs]
            answers = [
                (f"gradient of input {at}", copy_to_host(gradients.inputs[at])) for at in wanted
            ]
            subject = GradientSubject(function, waiting.written, waiting.autocast, wanted)
            args, kwargs = waiting.tree
            tree = (args, kwargs, incoming)
            checked = CheckedCall(
                number,
                name,
                Level.API,
                subject,
                tree,
                answers,
                True,
                module=module,
                record=waiting.record,
            )
            self._background.submit(checked, size)

        return report

    def _checked(
        self,
        call: OpCall,
        subject: Subject,
        host: HostArguments,
        result: Any,
        answers: Answers,
        tensors: list[torch.Tensor],
    ) -> CheckedCall:
        copies, record = host.copy_answers(result, answers, tensors)
        return CheckedCall(
            call.number,
            call.name,
            call.level,
            subject,
            host.tree,
            copies,
            call.backward,
            "" if call.parent is None else call.parent.name,
            call.module,
            () if call.backward else program_stack(),
            record,
        )


def _autocast_dtype(device: str) -> torch.dtype | None:
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None

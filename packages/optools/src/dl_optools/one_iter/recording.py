"""Recording of one training step: inputs, results and gradients of every module and operator."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from dl_optools.backward_graph import Gradients, GradientWatch, Watches
from dl_optools.call import own_work
from dl_optools.environment import environment
from dl_optools.one_iter.folder import OneIterError, Reader, Record, Writer, ranks
from dl_optools.one_iter.forcing import Forcing
from dl_optools.one_iter.operators import (
    OperatorRecording,
    differ,
    label_arguments,
    label_tensors,
    random_states,
)
from dl_optools.one_iter.redirection import redirect_folder
from dl_optools.tensors import tensors_of


class OneIter:
    """Records the step that runs inside ``with``, in a folder for each rank.

    Record a step on a trusted device, run the same step on the device under test with
    ``reference=``, and compare by ``dl one-iter compare TRUSTED TESTED`` or :attr:`comparison`.

        >>> with OneIter(model, "trusted"):
        ...     loss(model(batch)).backward()

    Repeated calls of modules and operators are numbered. The program's results do not change,
    unless ``teacher_forcing`` is on.

    :param model: model whose modules and parameters are recorded.
    :param folder: output folder; ``rank<R>`` in it must be new.
    :param reference: a folder with the trusted step; its weights and buffers are loaded into the
        model first.
    :param teacher_forcing: every operator gets the inputs, and its backward the gradients, that
        were recorded in ``reference``, so that errors do not accumulate. Random operators return
        the recorded results.
    :param operators: also record torch functions; without them only modules are recorded, and
        leaf modules are forced.
    :param rank: None: the variable ``RANK``, else 0.
    :raises OneIterError: the folder is in use, or the reference is not a recorded step.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        folder: Path | str,
        *,
        reference: Path | str | None = None,
        teacher_forcing: bool = False,
        operators: bool = True,
        rank: int | None = None,
    ) -> None:
        if teacher_forcing and reference is None:
            raise OneIterError("[OneIter] teacher_forcing needs reference=, a recorded step")
        self.model = model
        self.folder = redirect_folder(folder)
        self.rank = int(environment().get("RANK", "0")) if rank is None else rank
        self.reference = None if reference is None else Path(reference)
        if self.reference is not None and redirect_folder(self.reference).exists():
            # The program itself has recorded the reference.
            self.reference = redirect_folder(self.reference)
        self.forcing: Forcing | None = None
        self._forced = teacher_forcing
        self._operators = OperatorRecording(self) if operators else None
        self._lock = threading.RLock()

    # Lifetime

    def __enter__(self) -> OneIter:
        name = f"rank{self.rank}"
        parameters = [*self.model.parameters(), *self.model.buffers()]
        self._device = parameters[0].device.type if parameters else "cpu"
        trusted = None
        if self.reference is not None:
            folders = ranks(self.reference)
            if name not in folders:
                raise OneIterError(f"[OneIter] {self.reference} has no {name}")
            trusted = Reader(folders[name])
        self.writer = Writer(
            self.folder / name,
            {
                "device": self._device,
                "rank": self.rank,
                "torch": str(torch.__version__),
                "forced": self._forced,
            },
        )
        self._calls: Counter[tuple[str, ...]] = Counter()
        self._stack: list[tuple[str, Record, GradientWatch, list[torch.Tensor]]] = []
        self.optimizer = False
        self.watches = Watches()
        self._handles: list[Any] = []
        if trusted is not None:
            self.forcing = Forcing(trusted) if self._forced else None
            with own_work():
                Forcing(trusted).load(self._state())
        self._record_state("weight")
        self._hook()
        if self._operators is not None:
            self._operators.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._operators is not None:
            self._operators.stop()
        for handle in self._handles:
            handle.remove()
        self.watches.detach()
        self._record_state("weight after")
        raised = exception[1]
        name = "" if raised is None else type(raised).__name__
        self.writer.close(f"{name}: {raised}" if name and str(raised) else name)

    @property
    def comparison(self) -> Any:
        """Comparison of this step with the reference: a :class:`.one_iter.compare.StepComparison`.

        :raises OneIterError: there is no reference.
        """
        if self.reference is None:
            raise OneIterError("[OneIter] there is no reference to compare with")
        from dl_optools.one_iter.compare import compare_ranks

        return compare_ranks(self.reference / f"rank{self.rank}", self.folder / f"rank{self.rank}")

    # Weights

    def _state(self) -> Iterator[tuple[str, torch.Tensor]]:
        yield from self.model.named_parameters()
        yield from self.model.named_buffers()

    def _record_state(self, kind: str) -> None:
        with own_work():
            for name, tensor in self._state():
                self.writer.records.append(
                    Record(kind, name, outputs={"value": self.writer.add(tensor)})
                )

    # Hooks

    def _hook(self) -> None:
        for name, module in self.model.named_modules():
            before, after = self._entering(name, module), self._leaving
            self._handles.append(
                module.register_forward_pre_hook(before, with_kwargs=True, prepend=True)
            )
            self._handles.append(
                module.register_forward_hook(after, with_kwargs=True, always_call=True)
            )
        self._handles += [
            register_optimizer_step_pre_hook(self._stepping(True)),
            register_optimizer_step_post_hook(self._stepping(False)),
        ]
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad:
                hook = parameter.register_post_accumulate_grad_hook(self._accumulated(name))
                self._handles.append(hook)

    def new_record(self, kind: str, name: str, module: str, phase: str = "forward") -> Record:
        """Create a record with the next number of its kind."""
        with self._lock:
            key = (kind, module, name, phase)
            self._calls[key] += 1
            return Record(kind, name, module, self._calls[key] - 1, phase)

    @property
    def module(self) -> str:
        """Path of the running module; empty in the model itself and outside."""
        return self._stack[-1][0] if self._stack else ""

    def store(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, str]:
        """Store the current content of tensors, and return their hashes."""
        with self._lock:
            return {place: self.writer.add(x) for place, x in tensors.items()}

    def append(self, record: Record) -> None:
        """Append a completed event to the records."""
        with self._lock:
            self.writer.records.append(record)

    def watch(self, record: Record, inputs: Mapping[str, torch.Tensor]) -> GradientWatch:
        """Return the watch that will record the backward of a call."""
        places = list(inputs)

        def report(gradients: Gradients) -> None:
            backward = Record(record.kind, record.name, record.module, record.call, "backward")
            backward.random = record.random
            outputs = list(record.outputs)
            arrived = {
                f"gradient of {outputs[at]}": x
                for at, x in enumerate(gradients.outputs)
                if x is not None
            }
            sent = {
                f"gradient of {places[at]}": x
                for at, x in enumerate(gradients.inputs)
                if x is not None
            }
            backward.inputs, backward.outputs = self.store(arrived), self.store(sent)
            self.append(backward)

        return GradientWatch(list(inputs.values()), report)

    def _stepping(self, begins: bool) -> Any:
        def hook(*_: Any) -> None:
            self.optimizer = begins

        return hook

    def _entering(self, name: str, module: torch.nn.Module) -> Any:
        leaf = next(module.children(), None) is None

        def hook(_: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            with own_work():
                record = self.new_record("module", name, name)
                inputs = label_arguments(args, kwargs)
                if self.forcing is not None and (leaf or not self._stack):
                    self.forcing.inputs(record, inputs)
                record.inputs = self.store(inputs)
                watch = self.watch(record, inputs)
            self._stack.append((name, record, watch, random_states(list(inputs.values()))))

        return hook

    def _leaving(
        self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any
    ) -> None:
        if not self._stack:
            return
        _, record, watch, states = self._stack.pop()
        with own_work():
            outputs = {f"output{place}": x for place, x in label_tensors(output).items()}
            given = tensors_of(args, kwargs)
            record.random = differ(states, random_states(given))
            record.outputs = self.store(outputs)
            self.append(record)
            if self.forcing is not None and self._operators is None:
                self.forcing.gradients(record, outputs)
            if watch.attach(list(outputs.values())):
                self.watches.add(watch)

    def _accumulated(self, name: str) -> Any:
        def hook(parameter: torch.Tensor) -> None:
            with own_work():
                record = self.new_record("weight gradient", name, "")
                record.phase = "backward"
                if parameter.grad is not None:
                    record.outputs = self.store({"value": parameter.grad})
                self.append(record)

        return hook

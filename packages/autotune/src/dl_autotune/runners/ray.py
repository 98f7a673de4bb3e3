"""Workers on the machines of a Ray cluster; needs the package ray.

Ray chooses a machine, starts a process there (an actor), and notices its end. The actor owns the
lock of the device and the workers of the machine. These run under guards and limits, like local
workers. Only the tuner accesses the database.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from diopi_proto.worker import Handler

from ..errors import TuningError
from .device_lock import DeviceLock
from .limits import Limits
from .placement import Placement
from .worker import Worker, WorkerError

LOCAL = "local"
"""Address of a temporary cluster on this machine only."""
_START_SECONDS = 120.0
_GRACE_SECONDS = 30.0
"""Seconds beyond a worker's timeout after which the machine counts as lost."""
_STORE_BYTES = 128 << 20


class Host:
    """Actor on a machine: its workers by name, and the device that it locks."""

    def __init__(self, held: tuple[str, int] | None) -> None:
        self._workers: dict[str, Worker] = {}
        self._held, self._stack = held, contextlib.ExitStack()

    def begin(self) -> tuple[str, str]:
        """Lock the device; the system releases the lock when this process ends.

        :returns: the node's name in Ray, and why the device could not be locked; "" if it was.
        """
        import ray

        node: str = ray.get_runtime_context().get_node_id()
        try:
            if self._held is not None:
                self._stack.enter_context(DeviceLock(*self._held))
        except TuningError as error:
            return node, str(error)
        return node, ""

    def call(
        self, name: str, make: Callable[[], Worker], request: Any, seconds: float
    ) -> tuple[str | None, Any]:
        """Return None and a worker's answer, or the reason of its failure and the message."""
        worker = self._workers.get(name)
        if worker is None:
            worker = self._workers[name] = make()
        try:
            return None, worker.call(request, seconds)
        except WorkerError as error:
            return error.reason, str(error)

    def stop(self, name: str) -> None:
        """End a worker."""
        if worker := self._workers.pop(name, None):
            worker.stop()

    def finish(self) -> None:
        """End all workers and release the device; the process itself ends later."""
        for name in list(self._workers):
            self.stop(name)
        self._stack.close()


class Machine:
    """Tuner's handle of a host, which is started on first use and restarted after it is lost.

    :param options: options of the Ray actor.
    :param held: vendor and device that the host locks. A lost host with a lock is restarted on the
        same machine only.
    """

    def __init__(
        self, ray: Any, options: Mapping[str, Any], held: tuple[str, int] | None = None
    ) -> None:
        self._ray, self._options, self._held = ray, dict(options), held
        self._actor: Any = None

    def start(self) -> Any:
        """Return the actor.

        :raises TuningError: no machine has free resources for it, or its device is in use.
        """
        if self._actor is not None:
            return self._actor
        self._actor = self._ray.remote(Host).options(**self._options).remote(self._held)
        try:
            node, why = self._ray.get(self._actor.begin.remote(), timeout=_START_SECONDS)
        except self._ray.exceptions.RayError as error:
            self.end()
            raise TuningError(
                f"[ray] no machine of the cluster started a worker within {_START_SECONDS:g} s:"
                " check 'ray status', and that dl-autotune is installed on the machines"
                f" ({_first(error)})"
            ) from error
        except BaseException:
            self.end()
            raise
        if why:
            self.end()
            raise TuningError(why)
        if self._held is not None:
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

            self._options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(node, soft=False)
        return self._actor

    def call(self, name: str, make: Callable[[], Worker], request: Any, seconds: float) -> Any:
        """Call the worker with this name; see :meth:`Worker.call`."""
        actor, errors = self.start(), self._ray.exceptions
        try:
            reason, answer = self._ray.get(
                actor.call.remote(name, make, request, seconds), timeout=seconds + _GRACE_SECONDS
            )
        except errors.GetTimeoutError as error:
            self.end()
            message = f"the machine did not answer within {seconds + _GRACE_SECONDS:g} s"
            raise WorkerError("timeout", message) from error
        except errors.RayActorError as error:
            self.end()
            raise WorkerError("crash", f"the machine was lost: {_first(error)}") from error
        except errors.RayError as error:
            self.end()
            # The last line of a traceback.
            raise WorkerError("error", str(error).strip().rpartition("\n")[2]) from error
        except BaseException:
            # The call may continue on that machine, but its result is discarded.
            self.end()
            raise
        if reason is not None:
            raise WorkerError(reason, answer)
        return answer

    def stop(self, name: str) -> None:
        """End one worker; no call may be in progress."""
        if self._actor is not None:
            self._wait(self._actor.stop.remote(name))

    def finish(self) -> None:
        """End all workers and the host, which frees its device; no call may be in progress."""
        if self._actor is not None:
            self._wait(self._actor.finish.remote())
        self.end()

    def _wait(self, answer: Any) -> None:
        try:
            self._ray.get(answer, timeout=_GRACE_SECONDS)
        except self._ray.exceptions.RayError:
            self.end()

    def end(self) -> None:
        """End the host; guards there end the workers."""
        actor, self._actor = self._actor, None
        if actor is not None:
            self._ray.kill(actor)


class RemoteWorker:
    """A worker of a machine, with the interface of :class:`Worker`.

    :param alone: the machine has no other worker, so that :meth:`stop` ends the machine as well,
        even during a call.
    """

    def __init__(
        self, machine: Machine, name: str, make: Callable[[], Worker], *, alone: bool
    ) -> None:
        self._machine, self._name, self._make, self._alone = machine, name, make, alone

    def call(self, request: Any, seconds: float) -> Any:
        """Call the worker; see :meth:`Worker.call`. A lost machine is a failure, too."""
        return self._machine.call(self._name, self._make, request, seconds)

    def stop(self) -> None:
        """End the process and all that it started."""
        if self._alone:
            self._machine.end()
        else:
            self._machine.stop(self._name)

    def __enter__(self) -> RemoteWorker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class OnRay(Placement):
    """Workers on a Ray cluster while this context is open: one machine measures, and compilers run
    on any machine with a free processor.

    All machines need this package, the vendor, and the kernel's files at the same paths. A program
    that has called ``ray.init`` keeps its cluster, whatever the address.

    :param address: address for ``ray.init``, or :data:`LOCAL`.
    :param processors: processors of a local cluster: one measures, all others compile.
    :param measuring: requirements of the machine that measures, as options of a Ray actor, such as
        ``{"num_gpus": 1}`` or ``{"resources": {"bench": 1}}``.
    :raises TuningError: ray is not installed, or there is no cluster at the address.
    """

    several = True

    def __init__(
        self,
        address: str = LOCAL,
        *,
        processors: int = 3,
        measuring: Mapping[str, Any] | None = None,
    ) -> None:
        try:
            import ray
        except ImportError as error:
            raise TuningError(
                "[ray] needs the package ray: pip install 'dl-autotune[ray]'"
            ) from error
        self._ray: Any = ray
        self._address, self._processors = address, processors
        self._measuring = {"num_cpus": 1, **(measuring or {})}
        self._numbers = itertools.count()
        self._machine: Machine | None = None
        self._ours = False

    def __enter__(self) -> OnRay:
        if self._ray.is_initialized():
            return self
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        if self._address == LOCAL:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            options |= dict(num_cpus=self._processors, object_store_memory=_STORE_BYTES)
            options["include_dashboard"] = False
        try:
            self._ray.init(address=self._address, **options)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise TuningError(f"[ray] no cluster at {self._address!r}: {_first(error)}") from error
        self._ours = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            self._ray.shutdown()
        self._ours = False

    @contextlib.contextmanager
    def lock(self, vendor: str, device: int) -> Iterator[None]:
        """Choose the machine that measures, and lock its device."""
        machine = Machine(self._ray, self._measuring, (vendor, device))
        try:
            machine.start()
            self._machine = machine
            yield
        finally:
            self._machine = None
            machine.finish()

    def measurer(self, build: Callable[[], Handler], limits: Limits) -> RemoteWorker:
        """Return a worker of the machine that measures."""
        if self._machine is None:
            raise TuningError("[ray] the device is not locked: enter lock() before measurer()")
        return RemoteWorker(
            self._machine, self._name(), partial(Worker, build, limits), alone=False
        )

    def compiler(self, build: Callable[[], Handler], limits: Limits) -> RemoteWorker:
        """Return a worker on a machine with free resources."""
        machine = Machine(self._ray, {"num_cpus": 1, "scheduling_strategy": "SPREAD"})
        make = partial(Worker, build, limits, may_leave_children=True)
        return RemoteWorker(machine, self._name(), make, alone=True)

    def _name(self) -> str:
        return str(next(self._numbers))


def _first(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0].strip() if lines else type(error).__name__

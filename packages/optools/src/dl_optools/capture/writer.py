"""Writer of bundles: a background thread with a bounded queue and limits on memory and disk.

Nothing is lost silently: whatever could not be written is counted by its reason.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import threading
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dl_optools.bundle import payload
from dl_optools.bundle.draft import Addition
from dl_optools.bundle.location import FILE
from dl_optools.bundle.records import StorageRecord
from dl_optools.capture.limits import Limits
from dl_optools.failures import notify

OnBundle = Callable[[Path, bool], None]
SUMMARY = "capture.json"
QUOTA = "disk quota"
"""Reason for not writing data beyond :attr:`.Limits.disk`."""


@dataclass
class WriterStatistics:
    """Statistics of a writer.

    :ivar calls: bundles on disk; ``gradients``: how many of them have gradients.
    :ivar nbytes: size of all files.
    :ivar payloads: number of files that hold tensors.
    :ivar repeated: bytes of tensors that were already stored and not written again.
    :ivar dropped: how many calls, or gradients of calls, were not written, by reason.
    :ivar listener_errors: what ``on_bundle`` raised, and how often.
    """

    directory: Path
    calls: int = 0
    gradients: int = 0
    nbytes: int = 0
    payloads: int = 0
    repeated: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    listener_errors: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        text = (
            f"{self.calls} calls ({self.gradients} with gradients), {self.nbytes} bytes in "
            f"{self.directory}"
        )
        if self.dropped:
            reasons = ", ".join(f"{n} x {reason}" for reason, n in self.dropped.most_common())
            text += f"; not written: {reasons}"
        errors = (f"{reason} ({n} x)" for reason, n in self.listener_errors.items())
        return "; ".join([text, *errors])


class BundleWriter:
    """Writes bundles into one directory, in a thread of its own, in the order of submission.

    :param directory: is created; its ``store`` holds the payloads of all bundles.
    :param on_bundle: called in that thread for each bundle on disk with its file, and again, with
        True, when its gradients have been added. What it raises is counted
        in :attr:`.WriterStatistics.listener_errors`.
    """

    def __init__(
        self,
        directory: Path,
        limits: Limits | None = None,
        *,
        at_exit: bool = True,
        on_bundle: OnBundle | None = None,
    ) -> None:
        self.directory = directory
        self._on_bundle = on_bundle
        self.limits = limits or Limits()
        self.written = WriterStatistics(directory)
        self._changed = threading.Condition()
        self._queue: deque[Addition] = deque()
        self._held = 0
        self._closing = False
        self._failure: BaseException | None = None
        self._failures: Counter[str] = Counter()
        self._process = os.getpid()
        directory.mkdir(parents=True, exist_ok=True)
        self._thread = threading.Thread(target=self._work, name="bundle writer", daemon=True)
        self._thread.start()
        if at_exit:
            atexit.register(self.close)

    def drop(self, reason: str) -> None:
        """Count an item that is not written."""
        with self._changed:
            self.written.dropped[reason] += 1

    def submit(self, addition: Addition) -> bool:
        """Queue one addition; return False if it, and all later additions to its call, are dropped.

        Blocks if the limits say so.
        """
        draft = addition.draft
        if os.getpid() != self._process:
            # A forked process has no writer thread, and its counts are never read.
            return False
        with self._changed:
            if draft.dropped:
                return False
            size = addition.nbytes
            while self._is_full(size) and self.limits.wait and not self._closing:
                self._changed.wait()
            if self._closing or self._is_full(size):
                self._drop(addition, "stopped" if self._closing else "queue or memory full")
                return False
            self._queue.append(addition)
            self._held += size
            self._changed.notify_all()
            return True

    def flush(self) -> None:
        """Wait until everything submitted is written or dropped."""
        with self._changed:
            while (self._queue or self._held) and self._failure is None:
                self._changed.wait()
        self._raise()

    def close(self) -> None:
        """Write the rest and a summary, and end the thread. Called at exit at the latest."""
        atexit.unregister(self.close)
        if os.getpid() != self._process:
            return
        with self._changed:
            first = not self._closing
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        if first:
            try:
                self._write_summary()
            except OSError as error:
                self._failures[f"{SUMMARY}: {error.strerror}"] += 1
        self._raise()

    @property
    def losses(self) -> list[str]:
        """Describe what could not be written although the limits allow it."""
        return [
            f"{self.directory}: {reason} ({count} x)" for reason, count in self._failures.items()
        ]

    @property
    def omissions(self) -> list[str]:
        """Describe what is missing because of a limit of this run.

        Dropping was requested by ``when_full``, so it is reported only if nothing else is left.
        """
        dropped = self.written.dropped
        quota = {reason: n for reason, n in dropped.items() if reason.endswith(QUOTA)}
        if quota:
            count = ", ".join(f"{n} x {reason}" for reason, n in quota.items())
            return [f"results are lost: {count} of {self.limits.disk} bytes; --disk sets it"]
        if dropped and not self.written.calls:
            return [f"no call was written: {', '.join(dropped)}"]
        return []

    def _raise(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def _is_full(self, size: int) -> bool:
        too_large = self._held > 0 and self._held + size > self.limits.memory
        return len(self._queue) >= self.limits.queue or too_large

    def _drop(self, addition: Addition, reason: str) -> None:
        """Count a dropped addition; the lock is held."""
        draft = addition.draft
        draft.dropped = True
        # If the call itself is on disk, only its gradients are lost.
        self.written.dropped[f"gradients: {reason}" if draft.length else reason] += 1

    # Methods of the writer's thread

    def _work(self) -> None:
        try:
            while True:
                with self._changed:
                    while not self._queue and not self._closing:
                        self._changed.wait()
                    if not self._queue:
                        return
                    addition = self._queue.popleft()
                try:
                    self._write(addition)
                except OSError as error:
                    with self._changed:
                        self._failures[error.strerror or str(error)] += 1
                        self._drop(addition, f"cannot be written: {error.strerror}")
                with self._changed:
                    self._held -= addition.nbytes
                    self._changed.notify_all()
        except BaseException as error:  # noqa: BLE001 - raised by flush and close
            with self._changed:
                self._failure = error
                self._closing = True
                self._queue.clear()
                self._changed.notify_all()

    def _write(self, addition: Addition) -> None:
        draft = addition.draft
        if draft.dropped:
            return
        records: list[StorageRecord] = []
        new: dict[str, memoryview] = {}
        store = self.directory / payload.STORE
        repeated = 0
        for storage in addition.storages:
            hashes = []
            for host in storage.pieces:
                data: memoryview = host.data.numpy().data
                digest = hashlib.sha256(data).hexdigest()
                hashes.append(digest)
                if digest in new or payload.path_of(store, digest).exists():
                    repeated += data.nbytes
                else:
                    new[digest] = data
            records.append(storage.record(hashes))
        document = draft.with_addition(addition, records)
        text = document.text().encode("ascii")
        needed = len(text) - draft.length
        needed += sum(len(payload.header(data.nbytes)) + data.nbytes for data in new.values())
        written = self.written
        if written.nbytes + needed > self.limits.disk:
            with self._changed:
                self._drop(addition, QUOTA)
            return
        for digest, data in new.items():
            written.nbytes += payload.write(store, digest, data)
            written.payloads += 1
        draft.directory.mkdir(parents=True, exist_ok=True)
        partial = draft.directory / f"{FILE}.partial"
        partial.write_bytes(text)
        partial.replace(draft.directory / FILE)
        later = draft.length > 0
        with self._changed:
            written.repeated += repeated
            written.nbytes += len(text) - draft.length
            if not later:
                written.calls += 1
            if document.gradients is not None:
                written.gradients += 1
            draft.document, draft.length = document, len(text)
        if reason := notify("on_bundle", self._on_bundle, draft.directory / FILE, later):
            written.listener_errors[reason] += 1

    def _write_summary(self) -> None:
        written = self.written
        summary = {
            "format": "dl-op-capture",
            "version": 1,
            "calls": written.calls,
            "gradients": written.gradients,
            "bytes": written.nbytes,
            "payloads": written.payloads,
            "repeated_bytes": written.repeated,
            "dropped": dict(written.dropped),
        }
        (self.directory / SUMMARY).write_text(json.dumps(summary, indent=1) + "\n")

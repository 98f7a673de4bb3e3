"""Display of a tuning run: a bar with the best so far on a terminal, lines elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from diopi_proto.text import printable

from .kernel import TunableKernel
from .runners.database import StoredTrial


def format_values(values: Mapping[str, object]) -> str:
    """Format a configuration or a shape in one line."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


class Display:
    """Progress of a run; a context manager.

    :param total: number of evaluations; None if only seconds limit the run.
    """

    def __init__(self, total: int | None) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._progress.add_task("compiling the default", total=total)
        self._failed: Counter[str] = Counter()
        self._best = 0.0

    def begin(self, kernel: TunableKernel) -> None:
        """Print the kernel and the size of its search space."""
        self._line(
            f"{kernel.source.name}: {kernel.space.size:,} configurations, default"
            f" {format_values(kernel.default)}"
        )

    def trial(self, trial: StoredTrial, count: int) -> None:
        """Update the display with a trial."""
        if trial.ratio is None:
            self._failed[trial.invalidity] += 1
        elif trial.ratio > self._best:
            self._best = trial.ratio
            self._line(f"{count:4}  {trial.ratio:.3f} x  {format_values(trial.config)}")
        reasons = self._failed.most_common()
        failed = ", ".join(f"{n} {escape(printable(reason))}" for reason, n in reasons)
        description = f"best {self._best:.3f} x" + (f" (failed: {failed})" if failed else "")
        self._progress.update(self._task, completed=count, description=description)

    def _line(self, text: str) -> None:
        self._progress.console.print(Text(printable(text)), soft_wrap=True)

    def close(self) -> None:
        """Close the progress bar."""
        self._progress.stop()

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

"""Build scripts, and compiled kernels."""

from __future__ import annotations

import logging
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diopi_proto import worker
from diopi_proto.worker import run_command
from dl_autotune.runners.worker import Worker, WorkerError
from dl_autotune.toolchains import CompileError

from .arguments import packed, write_back
from .device_source import LANGUAGES
from .devices import Target, language_of, target, toolchain
from .errors import MskppError
from .launcher import GENERATED, Generated
from .recording import RECORDINGS, Launched
from .running import Launch, serve

LOG = logging.getLogger("mskpp")
BUILD_SECONDS = 600.0
_SAID_LINES = 12


class CompiledKernel:
    """Compiled kernel; ``kernel[blocks](*arguments)`` launches it.

    :ivar path: path of the library.
    :ivar generated: its launch source; None if only the binary is known.
    :ivar build_script: the script that built it.
    :ivar target: the device for which it was compiled.
    """

    def __init__(
        self, path: Path, generated: Generated | None, build_script: str | None, target: Target
    ) -> None:
        self.path, self.generated, self.build_script = path, generated, build_script
        self.target = target
        self._worker = Worker(serve)

    def __getitem__(self, blockdim: int | tuple[int, int]) -> Any:
        blocks = self._blocks(blockdim)

        def launch(
            *arguments: Any,
            stream: None = None,
            device_id: int | None = None,
            timeout: int = 300000,
            kernel_name: str | None = None,
            repeat: int = 1,
        ) -> None:
            """Run the kernel to the end, and write the results to the arrays that were passed.

            :param timeout: milliseconds.
            :raises MskppError: an argument does not fit, or the kernel failed.
            """
            del kernel_name
            if stream is not None:
                raise MskppError("[mskpp] stream: launches are synchronous; leave it out")
            on = self.target if device_id is None else target(device_id)
            if repeat < 1 or timeout <= 0:
                raise MskppError(f"[mskpp] repeat={repeat}, timeout={timeout}: must be at least 1")
            types = self.generated.bound if self.generated else None
            given = packed(arguments, types)
            for each in RECORDINGS:
                each.append(Launched(self, blocks, given))
            request = Launch(self.path, on, blocks, given, repeat)
            try:
                answer = self._worker.call(request, timeout / 1000)
            except WorkerError as error:
                raise MskppError(
                    f"[mskpp] the kernel in {self.path.name} failed: {error}"
                ) from error
            finally:
                self._worker.stop()
            write_back(answer, arguments)

        return launch

    def _blocks(self, blockdim: object) -> tuple[int, int]:
        """Return the number of blocks, and of threads in a block.

        A block of an Ascend device has one thread, as a loop of a host has; GPUs have more.
        """
        sizes = blockdim if isinstance(blockdim, tuple) else (blockdim, 1)
        whole = all(isinstance(x, int) and not isinstance(x, bool) and x >= 1 for x in sizes)
        if len(sizes) != 2 or not whole or (self.target.is_host and sizes[1] != 1):
            also = "" if self.target.is_host else ", or two: blocks and threads of a block"
            raise MskppError(f"[mskpp] blockdim {blockdim!r} has to be a positive integer{also}")
        return sizes[0], sizes[1]


def compile(
    build_script: str,
    launch_src_file: str,
    output_bin_path: str = "_gen_module.so",
    use_cache: bool = False,
) -> CompiledKernel:
    """Build a source written by :meth:`Launcher.code_gen`.

    :param build_script: script that is called with the source and the library to build. Not used if
        ``DL_VENDORS`` names a vendor other than cpu, whose kernel extension compiles.
    :param use_cache: use an existing library if it is newer than both sources.
    :raises MskppError: the script fails, hangs, or does not create the library.
    """
    source, output = Path(launch_src_file).absolute(), Path(output_bin_path).absolute()
    if source not in GENERATED:
        raise MskppError(f"[mskpp] {launch_src_file} was not written by Launcher.code_gen")
    generated = GENERATED[source]
    on = target()
    if not (use_cache and is_newer(output, [source, generated.config.path])):
        if on.is_host:
            run_script(build_script, source, output)
        else:
            LOG.info("%s is not run: the kernel extension of %s compiles", build_script, on)
            compile_for(on, generated, generated.config.text(), output)
    return CompiledKernel(output, generated, str(Path(build_script).absolute()), on)


def compile_for(on: Target, generated: Generated, text: str, output: Path) -> None:
    """Compile a text of a kernel for a device, and write the code to a file.

    :raises MskppError: it does not compile.
    """
    language = language_of(on)
    source, name = generated.device_source(text, language), generated.config.path.name
    try:
        code = toolchain(on).compile(source, name, LANGUAGES[language].options, BUILD_SECONDS)
    except CompileError as error:
        raise MskppError(f"[mskpp] {name} does not compile for {on}: {error}") from error
    output.write_bytes(code)


def get_kernel_from_binary(
    kernel_binary_file: str, kernel_type: str | None = None, tiling_key: int | None = None
) -> CompiledKernel:
    """Return a kernel that :func:`compile` built before.

    :param kernel_type: kind of core of an Ascend device; ignored.
    :raises MskppError: the file does not exist, or a tiling key is given.
    """
    del kernel_type
    if tiling_key:
        raise MskppError(f"[mskpp] tiling_key={tiling_key}: compiled code has one kernel")
    path = Path(kernel_binary_file).absolute()
    if not path.is_file():
        raise MskppError(f"[mskpp] {kernel_binary_file} is not a file")
    return CompiledKernel(path, None, None, target())


def run_script(script: str, source: Path, output: Path, seconds: float = BUILD_SECONDS) -> None:
    """Run a build script.

    :raises MskppError: it fails, takes longer than `seconds`, or does not create `output`.
    """
    path = Path(script).absolute()
    if not path.is_file():
        raise MskppError(f"[mskpp] build script {script} is not a file")
    output.unlink(missing_ok=True)
    command = ["bash", str(path), str(source), str(output)]
    try:
        done = run_command(command, stdin=subprocess.DEVNULL, seconds=seconds, merge_errors=True)
    except worker.WorkerError:
        raise MskppError(f"[mskpp] {script} did not end within {seconds:g} s") from None
    last = "\n".join(done.output.splitlines()[-_SAID_LINES:])
    if done.status != 0:
        raise MskppError(f"[mskpp] {script} ended with status {done.status}:\n{last}")
    if not output.is_file():
        raise MskppError(f"[mskpp] {script} did not make {output}:\n{last}")


def is_newer(file: Path, others: Sequence[Path]) -> bool:
    """Return True if a file exists and is newer than the other files."""
    return file.is_file() and all(file.stat().st_mtime > other.stat().st_mtime for other in others)

"""Source that launches a kernel: a loop over its blocks with the given arguments."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diopi_proto.foreign_file import SOURCE_BYTES, read_regular_text

from .device_source import device_source, with_includes
from .errors import MskppError
from .signature import Signature, find_signature

_INCLUDE = re.compile(r'^(\s*#\s*include\s*)"([^"]+)"', re.MULTILINE)
_SOURCE = """\
// Made by mskpp: launches {name} of {source}.
#include <cstddef>
#include <cstdint>

#ifndef GM_ADDR
#define GM_ADDR uint8_t*
#endif
#define __global__
#define __aicore__
#define __gm__
#define ACT_GLOBAL

namespace AscendC {{
inline int64_t dl_block = 0, dl_blocks = 1;
inline int64_t GetBlockIdx() {{ return dl_block; }}
inline int64_t GetBlockNum() {{ return dl_blocks; }}
}}  // namespace AscendC

#include "{source}"

extern "C" size_t dl_mskpp_count() {{ return {count}; }}
extern "C" size_t dl_mskpp_size(size_t at) {{
  const size_t sizes[] = {{{sizes}}};
  return sizes[at];
}}
extern "C" void dl_mskpp_launch(int64_t blocks, void** arguments) {{
  AscendC::dl_blocks = blocks;
  for (AscendC::dl_block = 0; AscendC::dl_block < blocks; ++AscendC::dl_block)
    {name}({arguments});
}}
"""


@dataclass(frozen=True)
class KernelInvokeConfig:
    """Kernel and the file that defines it.

    :raises MskppError: the file cannot be read.
    """

    kernel_src_file: str
    kernel_name: str

    def __post_init__(self) -> None:
        self.text()

    @property
    def path(self) -> Path:
        """Return the path of the file."""
        return Path(self.kernel_src_file).absolute()

    def text(self) -> str:
        """Return the source.

        :raises MskppError: the file cannot be read.
        """
        try:
            return read_regular_text(self.path, SOURCE_BYTES)
        except (OSError, UnicodeDecodeError) as error:
            raise MskppError(f"[mskpp] {self.kernel_src_file} cannot be read: {error}") from error


@dataclass(frozen=True)
class Generated:
    """Launch source that was written: its kernel, and the types for template parameters."""

    config: KernelInvokeConfig
    signature: Signature
    bound: tuple[str, ...]

    def source(self, kernel: Path) -> str:
        """Return the launch source for another file of the kernel that differs only in values."""
        types = self.bound
        return _SOURCE.format(
            name=self.signature.name,
            source=kernel,
            count=len(types),
            sizes=", ".join(f"sizeof({each})" for each in types) or "0",
            arguments=", ".join(
                f"*static_cast<{each}*>(arguments[{at}])" for at, each in enumerate(types)
            ),
        )

    def device_source(self, text: str, language: str) -> str:
        """Return the source for a device of a text of the kernel that differs only in values."""
        inserted = with_includes(text, self.config.path.parent)
        return device_source(language, inserted, self.signature.name, self.bound)


GENERATED: dict[Path, Generated] = {}
"""Files that :meth:`Launcher.code_gen` wrote."""


class Launcher:
    """Writer of the source that launches a kernel."""

    def __init__(self, config: KernelInvokeConfig) -> None:
        if not isinstance(config, KernelInvokeConfig):
            raise MskppError(f"[mskpp] Launcher needs a KernelInvokeConfig, not {config!r}")
        self._config = config

    def code_gen(self, gen_file: str = "_gen_launch.cpp") -> str:
        """Write the launch source, and return its path.

        For a kernel template, the caller must be a Python function with the same parameters as the
        kernel. The types of its arguments are the template arguments.

        :raises MskppError: the kernel is not found, or there is no such function.
        """
        config = self._config
        signature = find_signature(config.text(), config.kernel_name, config.path.name)
        made = Generated(config, signature, _bound(signature))
        path = Path(gen_file).absolute()
        path.write_text(made.source(config.path), encoding="utf-8")
        GENERATED[path] = made
        return str(path)


def _bound(signature: Signature) -> tuple[str, ...]:
    """Return the parameter types; template parameters become the class names of the arguments."""
    if not signature.open:
        return signature.types
    frame = inspect.currentframe()
    while frame is not None:
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount]
        if code.co_argcount == len(signature.types) and "self" not in names:
            values = [frame.f_locals.get(name) for name in names]
            pairs = list(zip(signature.types, values, strict=True))
            if all(isinstance(value, np.ndarray) == (each == "GM_ADDR") for each, value in pairs):
                return tuple(
                    type(value).__name__ if each in signature.open else each
                    for each, value in pairs
                )
        frame = frame.f_back
    raise MskppError(
        f"[mskpp] {signature.name} is a template: call code_gen in a function that has the"
        f" kernel's {len(signature.types)} parameters, whose arguments determine the types"
    )


def resolve_includes(text: str, folder: Path) -> str:
    """Replace includes of files in ``folder`` by absolute paths, for a source in another folder."""

    def named(match: re.Match[str]) -> str:
        file = folder / match[2]
        return f'{match[1]}"{file}"' if file.exists() else match[0]

    return _INCLUDE.sub(named, text)

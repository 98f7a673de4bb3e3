"""Source of a kernel for a device: words that its language lacks, the kernel, what is launched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from diopi_proto.foreign_file import SOURCE_BYTES, read_regular_text

from .errors import MskppError

FUNCTION = "dl_mskpp_launch"
"""Name of the function that is launched."""
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[^\n]*$', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[^\n]*$", re.MULTILINE)
_GLOBAL = re.compile(r"\b__global__\b")
_GPU = """\
#if __has_include(<cstdint>)
#include <cstdint>
#else
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
#endif
#define GM_ADDR uint8_t*
#define __aicore__
#define __gm__
#define ACT_GLOBAL __device__

namespace AscendC {
static __device__ int64_t GetBlockIdx() { return blockIdx.x; }
static __device__ int64_t GetBlockNum() { return gridDim.x; }
}  // namespace AscendC
"""
_ASCEND = """\
#include "kernel_operator.h"
#ifndef ACT_GLOBAL
#define ACT_GLOBAL __aicore__
#endif
"""
_OPENCL = """\
typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
#define GM_ADDR __global uchar*
#define __gm__ __global
#define __aicore__
#define ACT_GLOBAL
#define GetBlockIdx() ((long)get_group_id(0))
#define GetBlockNum() ((long)get_num_groups(0))
"""


@dataclass(frozen=True)
class Language:
    """A language of the kernel extension.

    :ivar beginning: words of Ascend C that it lacks.
    :ivar function: qualifiers of a function of a device, which replace ``__global__`` in the
        kernel's text: the launched function calls the kernel.
    :ivar launched: beginning of the launched function.
    """

    beginning: str
    function: str
    launched: str
    options: Sequence[str] = ()


LANGUAGES = {
    "cuda": Language(_GPU, "__device__", 'extern "C" __global__ void', ["-default-device"]),
    "hip": Language(_GPU, "__device__", 'extern "C" __global__ void'),
    "ascendc": Language(_ASCEND, "", 'extern "C" __global__ __aicore__ void'),
    "opencl": Language(_OPENCL, "", "__kernel void"),
}
"""Supported languages by their names in the kernel extension."""


def device_source(language: str, kernel: str, name: str, types: Sequence[str]) -> str:
    """Return the source for a device.

    :param kernel: text of the kernel, without includes of files.
    :param name: name of the kernel.
    :param types: types of its parameters.
    """
    found = LANGUAGES[language]
    text = _GLOBAL.sub(found.function, kernel)
    parameters = ", ".join(f"{each} argument{at}" for at, each in enumerate(types))
    given = ", ".join(f"argument{at}" for at in range(len(types)))
    launched = f"{found.launched} {FUNCTION}({parameters}) {{\n  {name}({given});\n}}\n"
    return f"{found.beginning}\n{text}\n{launched}"


def with_includes(text: str, folder: Path) -> str:
    """Replace includes of files in a folder by their text: a device's compiler reads no files.

    Each file is inserted once. Includes of other files remain.

    :raises MskppError: a file cannot be read.
    """
    seen: set[Path] = set()

    def expand(text: str, folder: Path) -> str:
        def inserted(match: re.Match[str]) -> str:
            path = (folder / match[1]).resolve()
            if not path.is_file():
                return match[0]
            if path in seen:
                return ""
            seen.add(path)
            try:
                return expand(read_regular_text(path, SOURCE_BYTES), path.parent)
            except (OSError, UnicodeDecodeError) as error:
                raise MskppError(f"[mskpp] {path} cannot be read: {error}") from error

        return _INCLUDE.sub(inserted, _ONCE.sub("", text))

    return expand(text, folder)

"""Compilation of one unit of kernels: SPIR-V from clang's HIP front end, embedded in an object.

    python -m dl_kernels.spirv_unit --tool=… --library=… --group-threads=256 --warp-threads=32 -- \
        FLAGS -MMD -MF UNIT.d -c UNIT.hip -o UNIT.o

The image in the object has two modules with the same kernels, each preceded by its size as 8 bytes.
The first exchanges values in sub-groups; the second, for devices without sub-groups, exchanges them
in the memory of work-groups. Kernels are registered with the image by the host code's constructors,
as HIP does.
"""

from __future__ import annotations

import argparse
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .spirv import SpirvTools
from .spirv_spaces import infer_spaces

_LANGUAGE = ("-x", "hip", "--offload=spirv64", "-nogpuinc")
# Round as other devices do: no contraction to fused multiply-adds.
_NUMBERS = ("-fno-math-errno", "-ffp-contract=off")
_TYPED_POINTERS = ("-Xclang", "-no-opaque-pointers")
# Diagnostics that concern only one of the two passes: a function that the other pass needs, or a
# loop that the device pass does not unroll.
_QUIET = ("-Wno-unneeded-internal-declaration", "-Wno-unused-function", "-Wno-pass-failed")
_COMMON = (*_LANGUAGE, *_NUMBERS, *_QUIET)
_WARP_MACRO = "-DDL_SPIRV_WARP_THREADS="
_KERNEL = re.compile(r"^(define .*\bspir_kernel void .*) \{$", re.MULTILINE)
# A kernel: its head, the label of its first block if it has a name, and the rest.
_BODY = re.compile(
    r"^(define .*\bspir_kernel void .* \{\n)((?:[\w.$-]+:.*\n)?)((?:.*\n)*?\}$)", re.MULTILINE
)
_BOOLEAN = re.compile(r"\bi1((?: noundef| zeroext)*) (%[\w.$-]+)(?=[,)])")
_FREEZE = re.compile(r"^( *%\S+ = )freeze (.+) (\S+)$", re.MULTILINE)
# For some loops with unrolling hints, the translator generates invalid structured control flow.
_LOOP_HINTS = re.compile(r", !llvm\.loop !\d+")
# A variable in the memory of a work-group: its name, its linkage and the rest.
_LOCAL = re.compile(
    r"^(@.+? = )[\w ]*?((?:local_)?(?:unnamed_addr )?addrspace\(3\) global )", re.MULTILINE
)
_VERSIONS = re.compile(r"^(!opencl\.(?:ocl|spir)\.version = ).*$", re.MULTILINE)


def _with_bytes(kernel: re.Match[str]) -> str:
    """Return a kernel whose boolean parameters are bytes.

    The layout of SPIR-V's booleans is undefined, so a kernel cannot take them from the host.
    """
    head, label, rest = kernel.groups()
    flags = [found[2] for found in _BOOLEAN.finditer(head)]
    head = _BOOLEAN.sub(r"i8\1 \2", head)
    for flag in flags:
        rest = re.sub(rf"{re.escape(flag)}(?![\w.$-])", f"%dl.flag.{flag[1:]}", rest)
        rest = f"  %dl.flag.{flag[1:]} = trunc i8 {flag} to i1\n{rest}"
    return head + label + rest


def prepare(text: str, *, group_threads: int, warp_threads: int) -> str:
    """Return LLVM assembly that the translator accepts, with the sizes of work-groups.

    ``freeze``, which the translator does not know, becomes a copy: SPIR-V has no poison values.
    OpenCL's version and the sizes of work-groups and sub-groups are added: HIP has no attributes
    for them.
    Boolean parameters of kernels become bytes. Variables of work-groups lose their linkage: PoCL
    has one instance of exported variables for all work-groups.
    """
    text = _BODY.sub(_with_bytes, text)
    text = _FREEZE.sub(r"\1bitcast \2 \3 to \2", text)
    text = _LOCAL.sub(r"\1internal \2", text)
    text = _VERSIONS.sub("", _LOOP_HINTS.sub("", text))
    sizes = "!reqd_work_group_size !900000"
    if warp_threads != group_threads:
        sizes += " !intel_reqd_sub_group_size !900001"
    text = _KERNEL.sub(rf"\1 {sizes} {{", text)
    return (
        f"{text}\n!900000 = !{{i32 {group_threads}, i32 1, i32 1}}\n"
        f"!900001 = !{{i32 {warp_threads}}}\n!900002 = !{{i32 2, i32 0}}\n"
        "!opencl.ocl.version = !{!900002}\n!opencl.spir.version = !{!900002}\n"
    )


def compile_unit(
    tools: SpirvTools,
    flags: Sequence[str],
    *,
    library: Path,
    group_threads: int,
    warp_threads: int,
) -> None:
    """Run all steps; ``flags`` are those of a compiler, with ``-MF``, ``-c`` and ``-o``.

    The machine header gets the size of a warp as ``DL_SPIRV_WARP_THREADS``.

    :raises subprocess.CalledProcessError: a step has failed; its output is on stderr.
    """
    # The object and the dependencies are written by the host's pass.
    output = flags.index("-o")
    device = [*flags[:output], *flags[output + 2 :]]
    dependencies = Path(device.pop(device.index("-MF") + 1))
    device = [flag for flag in device if flag not in ("-MMD", "-MF")]
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        functions = at / "functions.bc"
        opencl = ("-x", "cl", "-cl-std=CL2.0", "--target=spir64", "-O2", "-Wall", "-Werror")
        included = ("-Xclang", "-finclude-default-header")
        source = ("-emit-llvm", "-c", str(library), "-o", str(functions))
        _run(tools.clang, *opencl, *included, *_TYPED_POINTERS, *source)
        # Sub-groups come first; if warps are work-groups, there is only one module.
        modules = [
            _compile_module(
                tools, device, functions, group_threads=group_threads, warp_threads=size
            )
            for size in sorted({warp_threads, group_threads})
        ]
        image = at / "all.spv"
        image.write_bytes(b"".join(struct.pack("<Q", len(code)) + code for code in modules))
        embedded = ("-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(image))
        warp = f"{_WARP_MACRO}{warp_threads}"
        _run(tools.clang, *_COMMON, warp, "--cuda-host-only", *embedded, *flags)
    # The rule does not end in an escaped line break, so the library can be appended.
    rule = dependencies.read_text(encoding="utf-8").rstrip("\n")
    dependencies.write_text(f"{rule} {library}\n", encoding="utf-8")


def _compile_module(
    tools: SpirvTools,
    flags: Sequence[str],
    functions: Path,
    *,
    group_threads: int,
    warp_threads: int,
) -> bytes:
    """Return the SPIR-V of the kernels, linked with the functions that they call."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        kernels, linked, image = (str(at / name) for name in ("kernels.bc", "all.bc", "all.spv"))
        to_bitcode = ("--cuda-device-only", "-nogpulib", *_TYPED_POINTERS, "-emit-llvm")
        warp = f"{_WARP_MACRO}{warp_threads}"
        _run(tools.clang, *_COMMON, warp, *to_bitcode, *flags, "-o", kernels)
        only_called = ("--suppress-warnings", "--only-needed")
        typed = "-opaque-pointers=0"
        _run(tools.link, typed, *only_called, kernels, str(functions), "-o", linked)
        text = _run(tools.disassemble, typed, linked, "-o", "-")
        # PoCL keeps private variables in memory otherwise, which is slow, and mixes up those of
        # different work-items.
        if warp_threads == group_threads:
            text = infer_spaces(text, tools.optimize)
        text = prepare(text, group_threads=group_threads, warp_threads=warp_threads)
        prepared = at / "all.ll"
        prepared.write_text(text, encoding="utf-8")
        _run(tools.assemble, typed, str(prepared), "-o", linked)
        _run(tools.translate, "--spirv-max-version=1.3", linked, "-o", image)
        return Path(image).read_bytes()


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    sys.stderr.write(done.stderr)
    done.check_returncode()
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tool", action="append", required=True, help="paths of SpirvTools")
    parser.add_argument("--library", type=Path, required=True, help="OpenCL C source to link")
    parser.add_argument("--group-threads", type=int, required=True, help="size of work-groups")
    parser.add_argument("--warp-threads", type=int, required=True, help="size of sub-groups")
    parser.add_argument("flags", nargs="+", help="flags, source and output of clang")
    given = parser.parse_args()
    try:
        compile_unit(
            SpirvTools(*given.tool),
            given.flags,
            library=given.library,
            group_threads=given.group_threads,
            warp_threads=given.warp_threads,
        )
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"{Path(error.cmd[0]).name} failed\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

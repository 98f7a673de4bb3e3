"""Inference of address spaces, after which private variables become registers.

Clang's front end accesses everything by generic pointers, for which LLVM's optimizer does not keep
private variables in registers. LLVM's passes that infer address spaces know only one numbering, in
which generic pointers have number 0. So SPIR-V's numbers are exchanged before them, and back
after them.
"""

from __future__ import annotations

import re
import subprocess
import sys

_GENERIC, _PRIVATE = "4", "0"
"""Numbers in SPIR-V's assembly; LLVM's passes need 0 for generic pointers."""
_FREE = "5"
"""A number that SPIR-V's assembly does not use."""
# Quoted names and comments, which stay, and pointers: the star and its address space.
_POINTER = re.compile(r'"(?:[^"\\]|\\.)*"|;[^\n]*|(?: addrspace\((\d+)\))?\*')
_LAYOUT = re.compile(r'^target datalayout = "(.*)"$', re.MULTILINE)
_VARIABLE = re.compile(r"^( +%\S+ = alloca [^!\n]*?)(, !.*)?$", re.MULTILINE)
_VARIABLE_SPACE = re.compile(rf"^( +%\S+ = alloca .*?), addrspace\({_FREE}\)", re.MULTILINE)
_PASSES = (
    "cgscc(inline)",
    "function(infer-address-spaces,sroa,early-cse,simplifycfg,loop-simplify,lcssa,"
    "loop(loop-rotate,indvars,loop-unroll-full),loop-unroll<O2>,"
    "sroa,infer-address-spaces,sroa,instcombine,simplifycfg,adce)",
)


def infer_spaces(text: str, optimizer: str) -> str:
    """Return a module in LLVM's assembly with private variables in registers where possible.

    :param optimizer: path of ``opt``.
    :raises subprocess.CalledProcessError: the optimizer has failed.
    """
    exchanged = exchange_spaces(text)
    command = [optimizer, "-S", "-opaque-pointers=0", "-assume-default-is-flat-addrspace"]
    # Everything is inlined: a pointer to a private variable prevents its use in registers.
    command += ["-inline-threshold=100000", f"-passes={','.join(_PASSES)}", "-o", "-"]
    done = subprocess.run(command, input=exchanged, capture_output=True, text=True, check=False)
    sys.stderr.write(done.stderr)
    done.check_returncode()
    return restore_spaces(done.stdout)


def exchange_spaces(text: str) -> str:
    """Give generic pointers number 0, and private variables a free number."""
    text = _LAYOUT.sub(rf'target datalayout = "\1-A{_FREE}"', text)
    text = _renumber(text, {_GENERIC: "0", _PRIVATE: _FREE})
    return _VARIABLE.sub(rf"\1, addrspace({_FREE})\2", text)


def restore_spaces(text: str) -> str:
    """Undo :func:`exchange_spaces`."""
    text = text.replace(f'-A{_FREE}"\n', '"\n', 1)
    text = _VARIABLE_SPACE.sub(r"\1", text)
    return _renumber(text, {_FREE: _PRIVATE, "0": _GENERIC})


def _renumber(text: str, numbers: dict[str, str]) -> str:
    def renumbered(found: re.Match[str]) -> str:
        if not found[0].endswith("*") or found[0][0] in '";':
            return found[0]
        space = found[1] or "0"
        space = numbers.get(space, space)
        return "*" if space == "0" else f" addrspace({space})*"

    return _POINTER.sub(renumbered, text)

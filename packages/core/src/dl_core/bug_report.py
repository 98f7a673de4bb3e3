"""The file of ``dl doctor --report``: what a maintainer needs to know, and nothing private.

Variables are listed only if they influence torch, dl or a driver, and values of those that could be
secrets are left out. Names of the user, the home folder and the machine are replaced everywhere.
"""

from __future__ import annotations

import getpass
import importlib.metadata
import os
import platform
import re
import socket
from collections.abc import Mapping
from pathlib import Path

from diopi_proto.text import printable

# Variables of torch, its libraries, drivers and ourselves.
_RELEVANT = re.compile(
    r"(DL|DIPU|DICP|DIOPI|TORCH|TORCHDYNAMO|TORCHINDUCTOR|PYTORCH|OMP|KMP|GOMP|MKL|OPENBLAS|ONEDNN|"
    r"CUDA|NVIDIA|NCCL|HIP|HSA|ROCR|ROCM|AMD|ASCEND|HCCL|NEUWARE|MLU|CNCL|OCL|POCL|LD)(_.*)?|"
    r"PYTHON(PATH|HASHSEED|MALLOC|OPTIMIZE|WARNINGS|UNBUFFERED)|VIRTUAL_ENV|CONDA_PREFIX|LANG|LC_ALL"
)
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)
# The part of an address with a user and a password.
_LOGIN = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_PACKAGES = re.compile(
    r"dl-.*|torch.*|numpy|pluggy|cffi|triton.*|pytorch-.*|lightning|transformers|accelerate|"
    r"diffusers|peft|deepspeed|vllm.*|safetensors|scipy-openblas32|onednn-.*|nvidia-.*|intel-.*"
)


def compose(doctor: str, environ: Mapping[str, str]) -> str:
    """Return a bug report in Markdown.

    :param doctor: the output of ``dl doctor``.
    :param environ: the environment's variables.
    """
    parts = [
        "# Report of dl doctor",
        "",
        "Describe here what you did, what happened and what you expected, with the shortest "
        "program that shows it.",
        *_section("Installation", doctor.strip().splitlines()),
        *_section("Machine", _machine()),
        *_section("Packages", _packages()),
        *_section("Variables", _variables(environ)),
    ]
    return without_names("\n".join(parts) + "\n", environ)


def without_names(text: str, environ: Mapping[str, str]) -> str:
    """Replace the home folder, the user's and the machine's name, and logins in addresses."""
    text = _LOGIN.sub("<login>", text)
    homes = {environ.get("HOME", ""), str(Path.home())} - {"", "/"}
    for home in sorted(homes, key=len, reverse=True):
        text = re.sub(rf"{re.escape(home)}(?![\w.-])", "~", text)
    # Short names and root's would replace words.
    for name, shown in ((_user(), "<user>"), (socket.gethostname(), "<machine>")):
        if len(name) > 2 and name not in ("root", "localhost"):
            text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", shown, text)
    return text


def _section(title: str, lines: list[str]) -> list[str]:
    # Four spaces: a text with ``` in it cannot end the block.
    return ["", f"## {title}", "", *(f"    {printable(line)}".rstrip() for line in lines)]


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


def _machine() -> list[str]:
    libc = " ".join(platform.libc_ver())
    lines = [f"{platform.system()} {platform.release()} {platform.machine()}, {libc}"]
    lines.append(f"processors: {os.cpu_count()}, of this process: {len(os.sched_getaffinity(0))}")
    for file, key in (("/proc/cpuinfo", "model name"), ("/proc/meminfo", "MemTotal")):
        try:
            with Path(file).open(encoding="utf-8", errors="replace") as source:
                found = next((line for line in source if line.startswith(key)), "")
        except OSError:
            continue
        if found:
            lines.append(" ".join(found.split()))
    return lines


def _packages() -> list[str]:
    found = set()
    for distribution in importlib.metadata.distributions():
        name = (distribution.metadata["Name"] or "").lower().replace("_", "-")
        if _PACKAGES.fullmatch(name):
            found.add(f"{name} {distribution.version}")
    return sorted(found)


def _variables(environ: Mapping[str, str]) -> list[str]:
    chosen = sorted(name for name in environ if _RELEVANT.fullmatch(name))
    return [
        f"{name}={'<not shown>' if _SECRET.search(name) else environ[name]}" for name in chosen
    ] or ["none"]

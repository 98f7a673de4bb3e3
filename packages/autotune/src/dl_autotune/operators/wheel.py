"""``dl tune export-wheel``: measured choices as a data wheel for other machines."""

from __future__ import annotations

import base64
import hashlib
import re
import sqlite3
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from dl_core.files import write
from dl_core.tuned_choices import SCHEMA

from ..errors import ArgumentsError, TuningError
from ..runners.database import StoredChoice

_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*\Z")
_PLUGIN = '''"""Choices that were measured on {device}. Imports no torch."""

from pathlib import Path

import pluggy


@pluggy.HookimplMarker("dl")
def dl_tuned_databases():
    """The file of this wheel."""
    from dl_core.contributions import Contribution

    file = Path(__file__).with_name("choices.sqlite")
    return [Contribution("tuned-{device}", "choices measured on {device}", lambda: file)]
'''


def export_wheel(
    device: str,
    choices: Sequence[StoredChoice],
    folder: Path,
    *,
    version: str = "0.1.0",
    force: bool = False,
) -> Path:
    """Write ``dl_tuned_<device>-<version>-py3-none-any.whl``; returns its path.

    :param device: small letters, digits and single dashes.
    :param force: replace a wheel of this name and version.
    :raises TuningError: the name or the version is invalid, or there are no choices.
    :raises OutputError: the wheel already exists, or cannot be written.
    """
    if not _NAME.match(device):
        raise ArgumentsError(f"[tune] {device!r} is not a device name like epyc-9004 or a100")
    if not re.fullmatch(r"\d+(\.\d+)*", version):
        raise ArgumentsError(f"[tune] {version!r} is not a version like 0.1.0")
    if not choices:
        raise TuningError("[tune] no operator was tuned yet: run dl tune op or dl tune model first")
    module = f"dl_tuned_{device.replace('-', '_')}"
    information = f"{module}-{version}.dist-info"
    files = {
        f"{module}/__init__.py": f'"""Choices that were measured on {device}."""\n'.encode(),
        f"{module}/plugin.py": _PLUGIN.format(device=device).encode(),
        f"{module}/choices.sqlite": _database(choices),
        f"{information}/METADATA": (
            f"Metadata-Version: 2.1\nName: dl-tuned-{device}\nVersion: {version}\n"
            f"Summary: Implementations that are fastest on {device}, measured by dl-autotune\n"
            "Requires-Dist: dl-core\nRequires-Dist: pluggy>=1.3\n"
        ).encode(),
        f"{information}/WHEEL": (
            b"Wheel-Version: 1.0\nGenerator: dl-autotune\n"
            b"Root-Is-Purelib: true\nTag: py3-none-any\n"
        ),
        f"{information}/entry_points.txt": f"[dl]\ntuned-{device} = {module}.plugin\n".encode(),
    }
    record = "".join(f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{information}/RECORD"] = f"{record}{information}/RECORD,,\n".encode()
    path = folder / f"{module}-{version}-py3-none-any.whl"

    def fill(made: Path) -> None:
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)

    write(path, fill, force)
    return path


def _database(choices: Sequence[StoredChoice]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "choices.sqlite"
        connection = sqlite3.connect(path)
        connection.executescript(SCHEMA)
        connection.executemany(
            "INSERT INTO choices (identity, key, choice, operator, ratio, low, high)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(c.identity, c.key, c.choice, c.operator, c.ratio, c.low, c.high) for c in choices],
        )
        connection.commit()
        connection.close()
        return path.read_bytes()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()

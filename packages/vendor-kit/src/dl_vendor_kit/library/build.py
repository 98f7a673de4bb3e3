"""Steps of a vendor's ``setup.py``: generation, and quick compilation of what was generated."""

from __future__ import annotations

from pathlib import Path

from .check import check
from .loading import load
from .located import DataError
from .outputs import outputs
from .writing import OutputError, write_outputs


def generate(folder: Path) -> None:
    """Write the files that ``library.yaml`` of a folder lists as outputs.

    :raises SystemExit: the data files have an error, or a file cannot be written; the message
        lists them.
    """
    try:
        checked = check(load(folder))
        if checked.findings:
            raise SystemExit("\n".join(map(str, checked.findings)))
        write_outputs(outputs(checked))
    except (DataError, OutputError) as error:
        raise SystemExit(str(error)) from error


def joined_sources(generated: Path, folder: Path, parts: int = 4) -> list[str]:
    """Write sources that include the generated ones, and return them.

    There is a small source for each family of operators, and most of its time goes into headers.

    :param generated: folder of the generated sources, in a folder of includes.
    :param folder: where to write.
    :param parts: number of sources, which are compiled in parallel.
    """
    families = sorted(generated.glob("*.gen.cpp"))
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for part in range(parts):
        source = folder / f"operators_{part}.cpp"
        included = (f'#include "{generated.name}/{path.name}"\n' for path in families[part::parts])
        text = "".join(included)
        if not source.is_file() or source.read_text(encoding="utf-8") != text:
            source.write_text(text, encoding="utf-8")
        written.append(str(source))
    return written

"""Pages with the text of repository files that documents link to."""

from __future__ import annotations

from pathlib import Path

IMAGES = {".png", ".svg"}
_LANGUAGES = {
    ".c": "c",
    ".cl": "c",
    ".cpp": "cpp",
    ".h": "cpp",
    ".hpp": "cpp",
    ".inc": "cpp",
    ".json": "json",
    ".py": "python",
    ".toml": "toml",
    ".yaml": "yaml",
}
_LONGEST = 120_000
"""Maximum size in bytes of a file that a page shows; larger files are downloads."""
_HEAD = "---\nsearch:\n  exclude: true\nhide:\n  - navigation\n  - toc\n---\n\n"


def address_of(root: Path, path: str) -> str:
    """Return the address of a file's page, or of the file itself for images and large files."""
    file = root / path
    if file.is_dir():
        return f"source/{path}/index.md"
    if file.suffix in IMAGES or file.stat().st_size > _LONGEST:
        return f"source/{path}"
    return f"source/{path}.md"


def page_of(root: Path, path: str) -> str:
    """Return the page of a text file, or the list of the files of a folder."""
    file = root / path
    title = f"{_HEAD}# {path.rpartition('/')[2]}\n\n`{path}`"
    if file.is_dir():
        names = sorted(x.name + "/" * x.is_dir() for x in file.iterdir() if _is_source(x))
        return f"{title}\n\n" + "".join(f"- `{name}`\n" for name in names)
    text = file.read_text("utf-8").rstrip("\n")
    fence = "````" if "```" in text else "```"
    return f"{title}\n\n{fence}{_LANGUAGES.get(file.suffix, 'text')}\n{text}\n{fence}\n"


def _is_source(path: Path) -> bool:
    return not path.name.startswith((".", "__pycache__")) and path.name not in ("build", "dist")

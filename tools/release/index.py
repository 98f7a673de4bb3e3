"""A package index on this machine: `pip install` by name, as after a release."""

from __future__ import annotations

import html
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: pip reports what it downloads."""


def write_pages(files: list[Path], folder: Path) -> None:
    """Write a simple index (PEP 503) of wheels and sdists into an empty folder."""
    names: dict[str, list[Path]] = {}
    for file in files:
        names.setdefault(file.name.split("-")[0].replace("_", "-").lower(), []).append(file)
    for name, listed in names.items():
        page = folder / name
        page.mkdir(parents=True)
        links = []
        for file in listed:
            (page / file.name).symlink_to(file.resolve())
            shown = html.escape(file.name)
            links.append(f'<a href="{shown}">{shown}</a><br>')
        (page / "index.html").write_text("\n".join(links), encoding="utf-8")
    roots = (f'<a href="{name}/">{name}</a><br>' for name in sorted(names))
    (folder / "index.html").write_text("\n".join(roots), encoding="utf-8")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on the loopback interface; yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

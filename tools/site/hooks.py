"""Hooks of mkdocs that add the pages of the repository to the site."""

from __future__ import annotations

from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from tools.site import reference, source_pages
from tools.site.drawings import with_drawings
from tools.site.links import Links, relative_targets
from tools.site.table import ROOT, Generated, Kind, Page, Section, TableError, read_table


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the navigation from docs/pages.yaml."""
    try:
        kinds = read_table().kinds
    except TableError as error:
        raise PluginError(str(error)) from None
    config.nav = [{"dl": "index.md"}, *({kind.title: _nav(kind)} for kind in kinds)]
    return config


def _nav(section: Section) -> list[Any]:
    entries: list[Any] = [f"{section.folder}/index.md"] if isinstance(section, Kind) else []
    for entry in section.entries:
        if isinstance(entry, Page):
            entries.append(entry.address)
        elif isinstance(entry, Generated):
            entries += reference.GENERATORS[entry.name].nav()
        else:
            entries.append({entry.title: _nav(entry)})
    return entries


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages: documents with rewritten links, sources that they link to, references."""
    table = read_table()
    pages = list(table.pages())
    texts = {page.source: _read(page.source) for page in pages}
    for kind in table.kinds:
        _add(files, config, f"{kind.folder}/index.md", f"# {kind.title}\n\n{kind.about}\n")
    addresses = {**table.addresses, **reference.REPLACED}
    documents = Links(ROOT, addresses)
    for source, text in texts.items():
        for link in relative_targets(text):
            path = documents.target_of(source, link)
            if path not in addresses and (ROOT / path).exists():
                addresses[path] = address = source_pages.address_of(ROOT, path)
                if address.endswith(".md"):
                    _add(files, config, address, source_pages.page_of(ROOT, path))
                else:
                    copied = File.generated(config, address, abs_src_path=str(ROOT / path))
                    files.append(copied)
    links = Links(ROOT, addresses)
    for page in pages:
        _add(
            files,
            config,
            page.address,
            links.rewritten(page.source, page.address, texts[page.source]),
        )
    for generator in reference.GENERATORS.values():
        for address, text in generator.pages():
            _add(files, config, address, text)
    return files


def _read(source: str) -> str:
    return with_drawings(ROOT, source, (ROOT / source).read_text("utf-8"))


def _add(files: Files, config: MkDocsConfig, address: str, text: str) -> None:
    if existing := files.get_file_from_path(address):
        files.remove(existing)
    files.append(File.generated(config, address, content=text))

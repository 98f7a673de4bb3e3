"""Hooks of mkdocs that add the pages of the repository to the site."""

from __future__ import annotations

from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from tools.site import reference, source_pages
from tools.site.drawings import with_drawings
from tools.site.kind_pages import kind_page
from tools.site.links import Links, relative_targets
from tools.site.table import ROOT, Generated, Kind, Page, Section, Table, TableError, read_table


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
    documents = {page.source: _read(page.source) for page in table.pages()}
    sources = _linked_sources(table, documents)
    texts = {x: text for made in reference.GENERATORS.values() for x, text in made.pages()}
    links = Links(ROOT, {**table.addresses, **reference.REPLACED, **sources})
    for page in table.pages():
        texts[page.address] = links.rewritten(page.source, page.address, documents[page.source])
    for kind in table.kinds:
        texts[f"{kind.folder}/index.md"] = kind_page(kind, _nav(kind), texts)
    for path, address in sources.items():
        if address.endswith(".md"):
            texts[address] = source_pages.page_of(ROOT, path)
        else:
            files.append(File.generated(config, address, abs_src_path=str(ROOT / path)))
    for address, text in texts.items():
        if existing := files.get_file_from_path(address):
            files.remove(existing)
        files.append(File.generated(config, address, content=text))
    return files


def _read(source: str) -> str:
    return with_drawings(ROOT, source, (ROOT / source).read_text("utf-8"))


def _linked_sources(table: Table, documents: dict[str, str]) -> dict[str, str]:
    """Return the addresses of files without a page of their own that documents link to."""
    known = {**table.addresses, **reference.REPLACED}
    links = Links(ROOT, known)
    paths = {
        links.target_of(source, link)
        for source, text in documents.items()
        for link in relative_targets(text)
    }
    missing = sorted(path for path in paths - set(known) if (ROOT / path).exists())
    return {path: source_pages.address_of(ROOT, path) for path in missing}

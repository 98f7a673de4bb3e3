"""The documentation site has each page once, with links that work, and notices dead ones."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from tools.site import recording
from tools.site.check import problems
from tools.site.drawings import with_drawings
from tools.site.kind_pages import kind_page
from tools.site.links import Links, relative_targets
from tools.site.source_pages import address_of, page_of
from tools.site.table import Kind, TableError, read_table

KINDS = """
- {kind: tutorials, title: Tutorials, about: Lessons., pages: [%s]}
- {kind: how-to, title: How-to guides, about: Steps., pages: []}
- {kind: reference, title: Reference, about: Facts., pages: [%s]}
- {kind: explanation, title: Explanation, about: Reasons., pages: []}
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for path in ("README.md", "docs/pages.yaml", "docs/tutorials/train.md", "packages/x/README.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("# Title\n")
    return tmp_path


def write_table(root: Path, tutorials: str, reference: str) -> None:
    (root / "docs" / "pages.yaml").write_text(KINDS % (tutorials, reference))


def test_all_pages_of_the_repository_are_found() -> None:
    table = read_table()
    assert len({page.address for page in table.pages()}) == len(list(table.pages())) > 50


def test_addresses_follow_from_kind_and_source(repository: Path) -> None:
    write_table(repository, "docs/tutorials/train.md", "x: packages/x/README.md")
    assert read_table(repository).addresses == {
        "README.md": "index.md",
        "docs/tutorials/train.md": "tutorials/train.md",
        "packages/x/README.md": "reference/x.md",
    }


@pytest.mark.parametrize(
    ("tutorials", "reference", "problem"),
    [
        ("docs/tutorials/train.md", "docs/tutorials/train.md", "twice"),
        ("docs/tutorials/train.md", "docs/reference/none.md", "does not exist"),
        ("", "x: packages/x/README.md", "does not list docs/tutorials/train.md"),
        ("docs/tutorials/train.md, train: packages/x/README.md", "", "the same address"),
    ],
)
def test_an_invalid_table_is_refused(
    repository: Path, tutorials: str, reference: str, problem: str
) -> None:
    write_table(repository, tutorials, reference)
    with pytest.raises(TableError, match=problem):
        read_table(repository)


def test_links_lead_to_pages(repository: Path) -> None:
    addresses = {"packages/x/README.md": "reference/x.md", "docs/tutorials/a.md": "tutorials/a.md"}
    links = Links(repository, addresses)
    text = '[x](../../packages/x#use), [y](https://y.org), `[z](../z)` <img src="../../packages/x">'
    assert links.rewritten("docs/tutorials/a.md", "tutorials/a.md", text) == (
        '[x](../reference/x.md#use), [y](https://y.org), `[z](../z)` <img src="../reference/x.md">'
    )


def test_code_has_no_links() -> None:
    text = (
        "[a](a.md)\n\n```c\n[b](b.md)\n```\n\n    [c](c.md)\n\n``[d](d.md)`` and [e](e.md#part)\n"
    )
    assert relative_targets(text) == {"a.md", "e.md"}


def test_linked_sources_are_shown(repository: Path) -> None:
    (repository / "a.py").write_text("x = '```'\n")
    assert address_of(repository, "a.py") == "source/a.py.md"
    assert "````python\nx = '```'\n````" in page_of(repository, "a.py")
    assert "- `docs/`\n" in page_of(repository, ".")


def test_dead_links_and_other_hosts_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top"><a href="b.html#here">b</a><a href="#top">top</a><a href="#low">low</a>'
        '<a href="c.html">c</a><a href="https://d.org">d</a><script src="https://e.org/e.js">'
    )
    (tmp_path / "b.html").write_text('<p id="there">')
    assert sorted(problems(tmp_path)) == [
        "a.html links to #low, whose anchor does not exist",
        "a.html links to b.html#here, whose anchor does not exist",
        "a.html links to c.html, which does not exist",
        "a.html loads https://e.org/e.js from another host",
    ]


def test_link_texts_that_are_file_names_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html"><code>docs/</code>b.md</a> <a href="b.html">The page b</a> c.md'
    )
    (tmp_path / "b.html").write_text("<p>")
    assert list(problems(tmp_path)) == [
        "a.html has a link with the text docs/b.md; name the page by its title"
    ]


def test_the_page_of_a_kind_lists_its_pages() -> None:
    kind = Kind("How-to guides", (), "how-to", "Steps.")
    nav = ["how-to/index.md", {"Group": ["how-to/b.md", {"c.h": "c/c.md"}]}, "how-to/a.md"]
    texts = {"how-to/a.md": "# Do `a`\n", "how-to/b.md": "# Do b\n", "c/c.md": "no title"}
    assert kind_page(kind, nav, texts) == (
        "# How-to guides\n\nSteps.\n\n- [Do `a`](a.md)\n\n## Group\n\n- [Do b](b.md)\n"
        "- [c/c.md](../c/c.md)\n"
    )


def test_drawings_become_part_of_the_page(repository: Path) -> None:
    (repository / "docs" / "a.svg").write_text("<svg></svg>\n")
    text = "Text.\n\n![A drawing](../a.svg)\n\n![Inline](b.png)\n"
    assert with_drawings(repository, "docs/tutorials/train.md", text) == (
        'Text.\n\n<figure class="drawing">\n<svg></svg>\n</figure>\n\n![Inline](b.png)\n'
    )


def text_of(drawing: str) -> str:
    """Return the text of a drawing; a line is in several elements."""
    return html.unescape(re.sub(r"<[^>]*>", "", drawing)).replace("\xa0", " ")


def test_a_recording_loads_nothing_and_shows_commands_with_their_output() -> None:
    drawing = recording.draw([("dl a", "one\n<two>\n"), ("dl b", "x" * 200)])
    assert re.findall(r"https?://[^\s\"]*", drawing) == ["http://www.w3.org/2000/svg"]
    text = text_of(drawing)
    assert [x for x in ("$ dl a", "one", "<two>", "$ dl b", "xxx…") if x not in text] == []
    assert "x" * 150 not in text


def test_a_recording_names_no_folder_of_the_machine(tmp_path: Path) -> None:
    text = (
        f"{tmp_path}/wrong.py: /opt/v/lib/python3.11/site-packages/dl\nDL_VENDORS=cpu\npid1_2_3/x"
    )
    assert recording.without_places(text, tmp_path) == "wrong.py: …/site-packages/dl\npid…/x"


def test_the_recorded_session_has_todays_commands() -> None:
    text = text_of(recording.DRAWING.read_text("utf-8"))
    assert [line for line in recording.COMMANDS if f"$ {line}" not in text] == []

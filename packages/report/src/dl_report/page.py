"""Pages and their elements, rendered by Jinja2 templates that escape all text.

Plain strings between elements are escaped, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from .labels import breakable, visible

if TYPE_CHECKING:
    from jinja2 import Environment

Html = Markup
"""Rendered HTML, which is not escaped again."""
Cell = str | int | float | tuple[str, float | None]
"""Text, a number, or text and the number by which its column is sorted."""


@cache
def _environment(package: str) -> Environment:
    # Loading Jinja2 takes longer than starting a command that writes no page.
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(name) for name in {package, __package__}])
    environment = Environment(autoescape=True, loader=loader, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters["breakable"] = breakable
    return environment


def macro(
    name: str, file: str = "elements.jinja", package: str = __package__
) -> Callable[..., Html]:
    """Return a macro as a function.

    :param file: template in the folder ``templates`` of ``package``.
    """
    found: Callable[..., Html] = getattr(_environment(package).get_template(file).module, name)
    return found


def render_page(title: str, content: Iterable[Html]) -> str:
    """Return the complete file."""
    template = _environment(__package__).get_template("page.jinja")
    return visible(template.render(title=title, content=content)) + "\n"


def heading(title: str, notes: Sequence[str] = ()) -> Html:
    """Return the title of the page and notes below it."""
    return macro("heading")(title, notes)


def section(title: str, text: str, *content: Html) -> Html:
    """Return a section with a heading and a sentence."""
    return macro("section")(title, text, content)


def paragraph(text: str) -> Html:
    """Return a paragraph."""
    return macro("paragraph")(text)


def preformatted(text: str) -> Html:
    """Return preformatted text; long lines wrap."""
    return macro("preformatted")(text)


def folded(summary: str, *content: Html, lead: str = "", count: int | None = None) -> Html:
    """Return content that is expanded by a click on its summary.

    :param lead: emphasized beginning of the summary.
    :param count: badge with a number of failures.
    """
    return macro("folded")(summary, content, lead, count)


def tiles(values: Sequence[tuple[str | int, str]]) -> Html:
    """Return the key figures, each with its description."""
    return macro("tiles")(values)


def key(entries: Sequence[tuple[str, str]]) -> Html:
    """Return the legend of the colors: variables of the style sheet, and their meanings."""
    return macro("key")(entries)


def table(headers: Sequence[str], rows: Sequence[Sequence[Cell]], filtered: bool = True) -> Html:
    """Return a table that is sorted by a click on a header, and whose rows can be filtered."""
    is_text = [all(isinstance(row[at], str) for row in rows) for at in range(len(headers))]
    return macro("table")(headers, rows, is_text, filtered)

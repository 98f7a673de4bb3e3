"""Reports as self-contained HTML pages.

:mod:`.page` renders a page and its elements, :mod:`.charts` draws SVG charts.
"""

__version__ = "0.1.0"

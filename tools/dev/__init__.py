"""The environment of ``tools/nox -s dev``: editable packages, and what an editor needs to know."""

"""The environment of ``tools/nox -s dev``: editable packages, and compile commands for editors."""

"""What ``python -m op_tools.NAME`` runs; the module ``op_tools`` has this folder as its path."""

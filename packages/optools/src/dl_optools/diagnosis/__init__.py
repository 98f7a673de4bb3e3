"""``dl diagnose``: the wrong operators of a program, with evidence and a workaround."""

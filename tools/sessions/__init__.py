"""What the sessions of noxfile.py have in common; imports nothing but nox."""

"""Check the messages of the commits since the last release.

A subject is imperative, has at most 72 characters and states one idea; an empty line separates it
from the body. Merge commits are not checked.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# The last commit before this check existed; a release tag takes precedence.
FIRST_CHECKED_AFTER = "f543f5af"
LONGEST = 72
# Verb forms that are not imperative: "adds", "added", "adding".
NOT_IMPERATIVE = re.compile(
    r"(?:(?:add|fix|remov|chang|updat|mov|us|mak|allow|check|test|writ)(?:s|es|ed|ing)|made|wrote)\b",
    re.IGNORECASE,
)


def problems(message: str) -> list[str]:
    """Return the rules that a commit message violates, as sentences."""
    subject, *rest = message.rstrip("\n").split("\n")
    found = []
    if len(subject) > LONGEST:
        found.append(f"the subject has {len(subject)} characters, at most {LONGEST} are allowed")
    if ";" in subject:
        found.append("the subject lists several ideas; commit them one by one")
    if subject.endswith("."):
        found.append("the subject ends with a full stop")
    _, _, words = subject.rpartition(": ")
    if NOT_IMPERATIVE.match(words):
        found.append(f"{words.split()[0]!r} is not imperative")
    if rest and rest[0]:
        found.append("no empty line follows the subject")
    return found


def git(*arguments: str) -> str | None:
    """Return the output of git, None if it fails."""
    command = ("git", *arguments)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def main() -> int:
    tag = git("describe", "--tags", "--abbrev=0", "--match", "v*")
    base = tag.strip() if tag else FIRST_CHECKED_AFTER
    log = git("log", "--no-merges", "--format=%h%n%B%x00", f"{base}..HEAD")
    if log is None:
        print(f"commit messages are not checked: commit {base} is not in this checkout")
        return 0
    status = 0
    for entry in filter(None, (part.strip("\n") for part in log.split("\0"))):
        name, _, message = entry.partition("\n")
        for problem in problems(message):
            print(f"{name}: {problem}: {message.splitlines()[0]}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

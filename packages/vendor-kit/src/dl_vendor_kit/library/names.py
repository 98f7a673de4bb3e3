"""Names, types and numbers of data files that become C++.

The functions with a name ``..._problem`` return the end of a message, or "" for valid text.
"""

from __future__ import annotations

import re

from ..cpp_words import cpp_words
from .located import quote

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_TOKEN = re.compile(r"[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*|\S", re.ASCII)
_LONGEST_IDENTIFIER = 200
# Words of cpp_words.txt that are names of the standard library and macros, not keywords.
_NOT_KEYWORDS = frozenset(("std", "main", "linux", "unix"))
# Types, macros and reserved names of C, C++ and the contract, which headers define.
_DEFINED = re.compile(
    r"u?int(_least|_fast)?(8|16|32|64)_t|u?int(ptr|max)_t|(s?size|ptrdiff|w?char|char\d+|wint)_t|"
    r"(U?INT|S?SIZE|PTRDIFF|WCHAR|WINT|SIG_ATOMIC)\w*_(MAX|MIN|C)|_[A-Z_]\w*|DL_\w*|"
    r"NULL|EOF|assert|errno|std(in|out|err)"
)
_QUALIFIERS = frozenset(("const", "volatile"))
_ELABORATED = frozenset(("struct", "enum", "union", "class"))
# The types that are spelled with keywords, as sorted words.
_FUNDAMENTAL = frozenset(
    tuple(sorted(words.split()))
    for words in (
        *("void", "bool", "float", "double", "long double", "char", "signed char"),
        *("unsigned char", "short", "short int", "signed short", "signed short int"),
        *("unsigned short", "unsigned short int", "int", "signed", "signed int", "unsigned"),
        *("unsigned int", "long", "long int", "signed long", "signed long int", "unsigned long"),
        *("unsigned long int", "long long", "long long int", "signed long long"),
        *("signed long long int", "unsigned long long", "unsigned long long int"),
    )
)

LARGEST_INT = 2**31 - 1
LARGEST_INT64 = 2**63 - 1
# -2**63 is not a literal of C++.
SMALLEST_INT64 = -LARGEST_INT64
LARGEST_FLOAT = 3.4028234663852886e38
_RANGES = {
    **{f"int{n}_t": (-(2 ** (n - 1)), 2 ** (n - 1) - 1) for n in (8, 16, 32, 64)},
    **{f"uint{n}_t": (0, 2**n - 1) for n in (8, 16, 32, 64)},
    "int": (-(2**31), LARGEST_INT),
    "size_t": (0, 2**64 - 1),
}


def is_identifier(text: str) -> bool:
    """Return True if a text can be a name in C++; keywords cannot."""
    return (
        _IDENTIFIER.fullmatch(text) is not None
        and len(text) <= _LONGEST_IDENTIFIER
        and text not in cpp_words() - _NOT_KEYWORDS
    )


def identifier_problem(text: str, what: str) -> str:
    """Return why a text cannot be a name in C++; ``what`` completes "cannot be"."""
    if is_identifier(text):
        return ""
    reason = "is a keyword of C++" if text in cpp_words() else "is not a name in C"
    return (
        f"{quote(text)} {reason}, and cannot be {what}; use up to {_LONGEST_IDENTIFIER} letters, "
        "digits and _"
    )


def is_defined(name: str) -> bool:
    """Return True if C, C++ or the contract's headers may define a name, or reserve it."""
    return _DEFINED.fullmatch(name) is not None


def qualified_problem(text: str, what: str, *, rooted: bool = True) -> str:
    """Return why a text cannot be a name with namespaces, such as ``dl::chip::Vendor``.

    :param rooted: the name may begin with ``::``.
    """
    plain = text.removeprefix("::") if rooted else text
    if all(is_identifier(part) for part in plain.split("::")):
        return ""
    return (
        f"{quote(text)} is not {what}; write names of C++, which are not keywords, with :: between "
        "them, as in 'dl::chip::name'"
    )


def namespace_problem(text: str) -> str:
    """Return why a text cannot be a namespace that the generated code opens."""
    taken = sorted(x for x in text.split("::") if x in _NOT_KEYWORDS or is_defined(x))
    if taken:
        return f"{quote(text)} contains {taken[0]}, which C++ uses; choose another name"
    return qualified_problem(text, "a namespace", rooted=False)


def type_words(type_: str) -> frozenset[str]:
    """Return the names in a C type."""
    return frozenset(_IDENTIFIER.findall(type_))


def type_problem(type_: str) -> str:
    """Return why a text is not a C type of an argument: a name and ``*``, with ``const``."""
    tokens = _TOKEN.findall(type_)
    star = tokens.index("*") if "*" in tokens else len(tokens)
    base = [x for x in tokens[:star] if x not in _QUALIFIERS]
    after = [x for x in tokens[star:] if x != "*" and x not in _QUALIFIERS]
    if len(base) > 1 and base[0] in _ELABORATED:
        base = base[1:]
    words = tuple(sorted(base))
    is_value = star == len(tokens)
    if not after and words in _FUNDAMENTAL and not (is_value and words == ("void",)):
        return ""
    if not after and len(base) == 1:
        parts = re.split(r"\s*::\s*", base[0])
        if all(is_identifier(part) for part in parts):
            return ""
    return (
        f"{quote(type_)} is not a type of C; write a name, 'const' and '*', and give arrays, "
        "references and pointers to functions a name by 'typedef' in the vendor's header"
    )


def header_problem(path: str) -> str:
    """Return why a text cannot be the path in ``#include``."""
    if path.isprintable() and not re.search(r'["\\<>]', path) and path.strip() == path != "":
        return ""
    return (
        f"{quote(path)} cannot be the path of a header; use / between folders, and no quotes, "
        "backslashes, <, >, or control characters"
    )


def label_problem(text: str) -> str:
    """Return why a text cannot be shown in generated files: it is not one printable line."""
    if text.isprintable() and text.strip() == text != "":
        return ""
    return f"{quote(text)} is not one line of printable characters; remove the others"


def integer_range(type_: str) -> tuple[int, int]:
    """Return the smallest and largest value that an integer literal of a C type can have."""
    smallest, largest = _RANGES.get(type_, (SMALLEST_INT64, LARGEST_INT64))
    return max(smallest, SMALLEST_INT64), min(largest, LARGEST_INT64)


def quoted(text: str) -> str:
    """Return a C++ string literal."""
    escaped = "".join(
        # Three octal digits end an escape sequence, whatever follows.
        f"\\{ord(c):03o}" if ord(c) < 32 or ord(c) == 127 else c
        for c in text.replace("\\", "\\\\").replace('"', '\\"')
    )
    # Two question marks may begin a trigraph.
    return '"' + escaped.replace("??", "?\\?") + '"'

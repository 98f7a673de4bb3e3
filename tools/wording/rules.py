"""Rules of wording: a pattern, and what to write instead.

They apply to comments, docstrings, messages, documents and function names. Findings that are
ordinary English are added to the allow-list with a reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_PARTICIPLES = (
    "told|said|made|found|shown|given|kept|moved|asked|seen|tried|written|read_back|taken|gone|left"
    "|held|met|meant|put|laid|turned|played|drawn"
)


@dataclass(frozen=True)
class Rule:
    """One rule.

    :ivar name: its name on the allow-list.
    :ivar pattern: text that violates it.
    :ivar advice: what to write instead.
    :ivar opening: the rule applies to the first line of docstrings and comments only.
    :ivar ending: the rule applies to the last line of comments only.
    """

    name: str
    pattern: re.Pattern[str] = field(compare=False)
    advice: str
    opening: bool = False
    ending: bool = False


def _rule(
    name: str, pattern: str, advice: str, *, opening: bool = False, ending: bool = False
) -> Rule:
    return Rule(name, re.compile(pattern), advice, opening, ending)


RULES = (
    _rule(
        "clause-opening",
        r"^(?:What|Which|Whether|Who|Whose)\b(?!.*\?)",
        "begin with a noun phrase or an imperative verb",
        opening=True,
    ),
    _rule(
        "of-opening",
        r"^Of (?!course\b)\w+",
        "begin with a noun: 'Arguments of ...', 'Row sums of ...'",
        opening=True,
    ),
    _rule(
        "is-no",
        r"(?<![Tt]here )\b(?:is|are|was|were) no (?!(?:longer|more|less|better|worse|doubt)\b)\w",
        "say 'is not a ...'",
    ),
    _rule(
        "there-is",
        r"\bthat there (?:is|are)\b(?! no\b| a\b| an\b)|\bwho(?:ever)? there is\b",
        "say 'available', 'unknown' or 'missing'",
    ),
    _rule(
        "of-it",
        r"\b(?:what|much|some|all|none|one|part|little) of (?:it|them|these|those|ours)\b",
        "name the thing",
    ),
    _rule("half", r"\bhalves\b|\bhalf types?\b", "say 'half precision', 'float16' or 'bfloat16'"),
    _rule("card", r"(?<!graphics )(?<!wild)\bcards?\b", "say 'device' or 'GPU'"),
    _rule(
        "played", r"\b(?:is|are|being|was|were) played\b|\bplayed \w+", "say 'fake' or 'simulated'"
    ),
    _rule("host-number", r"\bnumbers? of the host\b|\bhost(?:'s)? numbers?\b", "say 'host scalar'"),
    _rule("truth", r"\btruths?\b(?! tables?\b)", "say 'boolean'"),
    _rule(
        "place",
        r"\bplaces? (?:of|in|along) (?:a|the|its|each|one) (?:tensor|row|dimension|list|index)",
        "say 'index', 'position' or 'offset'",
    ),
    _rule("beside", r"\bbeside\b", "say 'next to', 'alongside' or 'in addition to'"),
    _rule(
        "lies",
        r"\b(?:lies?|lying) (?:in|on|at|apart|beside|with|without|across|below|above|outside)\b",
        "say 'is stored' or 'is located'",
    ),
    _rule(
        "archaic",
        r"\b(?:anew|unawares?|hither|thither|whereof|thereof|amid|betwixt|ere)\b|\bby turns\b",
        "say 'again' or 'alternating'",
    ),
    _rule(
        "told",
        r"\b(?:is|are|was|were) told(?: of| by)?\b|\btold of\b|\bit is said\b",
        "say 'is reported', 'is listed' or 'is documented'",
    ),
    _rule("made-up", r"\bmade[- ]up\b", "say 'synthetic' or 'placeholder'"),
    _rule(
        "nobody",
        r"\b(?:nobody|somebody)(?:'s)?\b",
        "name the actor: another process, the caller, the user",
    ),
    _rule(
        "house",
        r"\b(?:map|tests|rules) of the house\b|\brooms? (?:of|below|above|is|are)\b",
        "say 'architecture', 'layer' or 'folder'",
    ),
    _rule("none-of", r"(?<!there )\b(?:is|are) none of\b", "say 'is not one of'"),
    _rule(
        "choices",
        r"[;:,] (?:allowed|available|installed|known|possible|supported|valid) are\b"
        r"|[;,] (?:its|their) number is\b",
        "write 'available: a, b' or 'number of devices: 2'",
    ),
    _rule("spare", r"\bwould spare\b", "say 'would avoid'"),
    _rule("so-many", r"\bso many\b(?!.*\bthat\b)", "name the number"),
    _rule(
        "field-in-line",
        r"\S :(?:cvar|ivar|keyword|param|raises|returns)(?: \w+)?:(?!`)|:(?:ivar|param|raises)$",
        "begin a line with each documented field",
    ),
    _rule(
        "field-opening",
        r"^:(?:cvar|ivar|keyword|param|raises|returns)\b.*:",
        "describe the object before its fields",
        opening=True,
    ),
    _rule(
        "cut-off",
        r"\b(?:a|an|and|because|if|of|or|than|that|the|their|they|where|which|whose)$",
        "complete the sentence",
        ending=True,
    ),
)
HELP = _rule(
    "help-fragment",
    r"^(?:of|in|on|which|that|what|whose|by|where|as|after|whether|is|are) ",
    "write a full noun phrase: 'number of ...', 'path of ...'",
)
NAME = _rule(
    "participle-name",
    rf"^_?(?:{_PARTICIPLES})(?:_\w+)?$",
    "use a verb phrase: format_report, build_graph, find_root",
)

"""Guards on the language a question is written in: an answer in another language is no answer."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from apps.answers.core.guards.reading import read

COMMON = {
    "en": "the is are my do does how what can i to of for and you it why when where which with on have this not",
    "de": "der die das ist sind mein meine wie was kann ich zu von für und sie es warum wann wo nicht mit ein eine auf",
    "fr": "le la les est sont mon ma mes comment que quoi puis je de du des pour et vous il pourquoi quand où ne pas",
    "es": "el la los las es son mi mis cómo como qué que puedo yo de del para y usted por cuándo dónde no con un una",
    "it": "il lo la gli è sono mio mia come cosa che posso io di del della per e lei perché quando dove non con un una",
    "pt": "o os as é são meu minha como que posso eu de do da para e você por quando onde não com um uma",
    "nl": "de het een is zijn mijn hoe wat kan ik van voor en u je waarom wanneer waar niet met op deze",
}
WORDS = {language: frozenset(words.split()) for language, words in COMMON.items()}
FEWEST = 3


def script(question: str, other: str) -> bool:
    """Say whether the two are written in different scripts."""
    return _script(question) != _script(other)


def language(question: str, other: str) -> bool:
    """Say whether both show their language by its commonest words, and it is not the same."""
    mine, theirs = _language(question), _language(other)
    return bool(mine) and bool(theirs) and mine != theirs


@lru_cache(maxsize=8192)
def _script(question: str) -> str:
    """Name the script of most letters, as Unicode names it; Japanese and Chinese share one."""
    text = read(question).text
    if text.isascii():
        return "LATIN"
    counts: dict[str, int] = {}
    for letter in filter(str.isalpha, text):
        name = unicodedata.name(letter, "LATIN").split()[0]
        name = "CJK" if name in {"HIRAGANA", "KATAKANA", "CJK"} else name
        counts[name] = counts.get(name, 0) + 1
    return max(counts, key=lambda name: counts[name]) if counts else "LATIN"


@lru_cache(maxsize=8192)
def _language(question: str) -> str:
    """Name the language whose common words are clearly the most frequent; empty when unclear."""
    words = read(question).words
    ranked = sorted(((sum(word in known for word in words), name) for name, known in WORDS.items()), reverse=True)
    (best, name), (second, _) = ranked[0], ranked[1]
    return name if best >= FEWEST and best >= 2 * second else ""

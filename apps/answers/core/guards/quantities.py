"""Guards on what can be counted or looked up: numbers, dates, units, currencies, identifiers."""

from __future__ import annotations

import re
from functools import lru_cache

from apps.answers.core.guards.reading import read

NUMBER = re.compile(r"(?<![\w.])[#$€£¥]?\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th|%|k)?")
SPELLED_OUT = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
SPELLED = {word: str(value) for value, word in enumerate(SPELLED_OUT.split(), 2)}
SPELLED |= {"twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "hundred": "100", "thousand": "1000"}
MONTHS = "january february march april may june july august september october november december"
DAYS = "monday tuesday wednesday thursday friday saturday sunday"
SHORT = {name[:3]: name for name in f"{MONTHS} {DAYS}".split() if name != "may"} | {
    "sept": "september",
    "thurs": "thursday",
}
RELATIVE = re.compile(
    r"\b(?:(?:this|next|last|past|coming) (?:week|weekend|month|year|quarter|night|morning|evening))\b"
)
MOMENTS = "today tomorrow yesterday tonight weekend weekday daily weekly monthly yearly annual annually"
TIMES = frozenset(f"{MONTHS} {DAYS} {MOMENTS}".split()) - {"may"}
WHOLE_DATE = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}/\d{1,2}(?:/\d{2,4})?\b")
CURRENCIES = {
    "usd": r"\$|\busd\b|\bdollars?\b|\bbucks?\b", "eur": r"€|\beur\b|\beuros?\b", "gbp": r"£|\bgbp\b|\bpounds?\b",
    "jpy": r"¥|\bjpy\b|\byen\b", "inr": r"₹|\binr\b|\brupees?\b", "chf": r"\bchf\b|\bfrancs?\b", "aud": r"\baud\b",
    "cad": r"\bcad\b", "cny": r"\bcny\b|\byuan\b|\brmb\b", "btc": r"\bbtc\b|\bbitcoins?\b", "rub": r"₽|\brubles?\b",
}  # fmt: skip
UNITS = {
    "second": "seconds? secs?", "minute": "minutes? mins?", "hour": "hours? hrs?", "day": "days?", "week": "weeks?",
    "month": "months?", "year": "years?", "km": "km kilomet(?:er|re)s?", "mile": "miles?", "metre": "met(?:er|re)s?",
    "kg": "kgs? kilo(?:gram)?s?", "pound": "lbs?", "gram": "grams?", "litre": "lit(?:er|re)s?", "celsius": "celsius",
    "fahrenheit": "fahrenheit", "percent": "percent %", "mb": "mb megabytes?", "gb": "gb gigabytes?", "tb": "tb",
}  # fmt: skip
CURRENCY = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in CURRENCIES.items()))
UNIT = re.compile(
    r"(?<!\w)\d[\d.,]* ?-?(?:"
    + "|".join(f"(?P<{name}>(?:{'|'.join(forms.split())})(?!\\w))" for name, forms in UNITS.items())
    + ")"
)
IDENTIFIER = re.compile(r"#\s?[a-z0-9][\w-]*|\b(?=[\w-]*\d)(?=[\w-]*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*\b|\b\d{4,}\b")
ORDINAL_OR_UNIT = re.compile(r"\d+(?:st|nd|rd|th|k|m|am|pm|h|x|%|gb|mb|tb|kg|km|lb|min|d)\Z")


def number(question: str, other: str) -> bool:
    """Say whether the two name different numbers, written in digits or words."""
    return _numbers(question) != _numbers(other)


def date(question: str, other: str) -> bool:
    """Say whether the two name different days, months, years or recurring times."""
    return _dates(question) != _dates(other)


def unit(question: str, other: str) -> bool:
    """Say whether both name a currency, or both a quantity, and not in the same unit."""
    (money, measures), (other_money, other_measures) = _units(question), _units(other)
    return _differ(money, other_money) or _differ(measures, other_measures)


def identifier(question: str, other: str) -> bool:
    """Say whether the two name different things by number: orders, branches, models, accounts."""
    return _identifiers(question) != _identifiers(other)


def _differ(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and bool(other) and one != other


@lru_cache(maxsize=8192)
def _numbers(question: str) -> tuple[str, ...]:
    reading = read(question)
    digits = [found.lstrip("#$€£¥").rstrip("stndrhk%").replace(",", "") for found in NUMBER.findall(reading.text)]
    spelled = [SPELLED[word] for word in reading.words if word in SPELLED]
    return tuple(sorted(digit.removesuffix(".00") for digit in digits + spelled))


@lru_cache(maxsize=8192)
def _dates(question: str) -> frozenset[str]:
    reading = read(question)
    named = {SHORT.get(word, word) for word in reading.words}
    found = named & TIMES
    return frozenset(found | set(RELATIVE.findall(reading.text)) | set(WHOLE_DATE.findall(reading.text)))


@lru_cache(maxsize=8192)
def _units(question: str) -> tuple[frozenset[str], frozenset[str]]:
    text = read(question).text
    counted = UNIT.finditer(text) if any(letter.isdigit() for letter in text) else ()
    money, measures = ({str(match.lastgroup) for match in found} for found in (CURRENCY.finditer(text), counted))
    return frozenset(money), frozenset(measures)


@lru_cache(maxsize=8192)
def _identifiers(question: str) -> frozenset[str]:
    found = (match.lstrip("# ").replace("-", "") for match in IDENTIFIER.findall(read(question).text))
    return frozenset(name for name in found if not ORDINAL_OR_UNIT.match(name))

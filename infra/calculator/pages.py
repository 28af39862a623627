"""The pages with figures: cost.md and capacity.md, and sentences on other pages that name prices.

Their texts are beside this module, with figures in braces. A test fails if a figure is not up to date, or
if a page has a price that quotes.toml does not name.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Final

from infra.calculator import capacity, cost

from sweephand_engine.costs.bill import Bill

_ROOT: Final = Path(__file__).parents[2]

_FIGURE: Final = r"\{[^}]+\}"
_VALUE: Final = r"(?:[0-9]+(?:[.,][0-9]+)*|at no rate|from [0-9]+ triggers a second on)"

_TEXTS: Final = tomllib.loads(Path(__file__).with_name("quotes.toml").read_text(encoding="utf-8"))

#: For each page the parts of sentences that name prices of Sweephand or of AWS, with figures in braces.
QUOTES: Final[Mapping[str, Sequence[str]]] = _TEXTS["sentences"]

#: Patterns of prices that no part of the bill has.
_PRICES_OF_OTHERS: Final[Sequence[str]] = _TEXTS["prices"]["of_others"]


def wanted(bill: Bill) -> dict[Path, str]:
    """The text of each page with its figures, the same for the same template, prices and measured points.

    Raises ValueError for a sentence that its page does not have.
    """
    of_cost = cost.figures(bill)
    texts = {"cost.md": of_cost, "capacity.md": capacity.figures(bill.measured, bill.template)}
    made = {
        _ROOT / "docs" / name: Path(__file__).with_name(name).read_text(encoding="utf-8").format_map(figures)
        for name, figures in texts.items()
    }
    for name, sentences in QUOTES.items():
        made[_ROOT / name] = _quoting(name, sentences, of_cost)
    return made


def _quoting(name: str, sentences: Sequence[str], known: Mapping[str, Any]) -> str:
    """The text of a page with the figures in its sentences."""
    text = (_ROOT / name).read_text(encoding="utf-8")
    for sentence in sentences:
        figures = [each.format_map(known) for each in re.findall(_FIGURE, sentence)]
        text, count = re.subn(_pattern(sentence), partial(_filled, figures), text)
        if not count:
            raise ValueError(f"{name} has no sentence like: {sentence}")
    return text


def _filled(figures: Sequence[str], match: re.Match[str]) -> str:
    """The words of a sentence as they stand on the page, with these figures between them."""
    return "".join(chain.from_iterable(zip_longest(match.groups(), figures, fillvalue="")))


def unknown_prices(name: str, text: str) -> list[str]:
    """The prices of a page that no sentence of QUOTES or _PRICES_OF_OTHERS names."""
    for pattern in (*map(_pattern, QUOTES.get(name, ())), *_PRICES_OF_OTHERS):
        text = re.sub(pattern, "", text)
    return re.findall(r".{0,40}\$[0-9][0-9.,]*", text)


def _pattern(sentence: str) -> str:
    """What a sentence may look like before it is up to date: with other figures, and with line breaks."""
    literals = re.split(_FIGURE, sentence)
    words = (re.escape(each).replace(r"\ ", r"\s+") for each in literals)
    return _VALUE.join(f"({each})" for each in words)

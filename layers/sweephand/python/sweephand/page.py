"""What a page of a list is: apart from the ports, since who only reads keys needs nothing else of them."""

from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items in order, and where the next page begins; None when there is none."""

    items: tuple[Item, ...]
    next: str | None

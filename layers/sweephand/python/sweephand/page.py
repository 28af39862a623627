"""What a page of a list is: apart from the ports, since who only reads keys needs nothing else of them."""

from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")


class Page(NamedTuple, Generic[Item]):
    """Some items in order, and where the next page begins; None when there is none."""

    items: tuple[Item, ...]
    next: str | None

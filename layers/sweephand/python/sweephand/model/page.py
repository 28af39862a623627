"""A page: some items of a list, and where the next page begins.

The ports return pages. This module is apart from the ports because the authorizer only reads keys, and must
not import every port.
"""

from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")


class Page(NamedTuple, Generic[Item]):
    """Up to `limit` items in order, and the position after which the next page begins.

    `next` is None if the list ends with this page. A page can be empty and still have a `next`: a store
    that filters looks at `limit` items and returns those that match.
    """

    items: tuple[Item, ...]
    next: str | None

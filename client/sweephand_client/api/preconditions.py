"""Makes a write depend on the revision of what is stored."""


def preconditions(if_match: str | None, *, if_absent: bool = False) -> dict[str, str]:
    """The headers by which a write needs this revision, any revision (`*`), or that nothing is stored.

    The API answers 412 if the precondition does not hold. Without arguments there is no precondition.
    """
    found = {}
    if if_match is not None:
        found["if-match"] = "*" if if_match == "*" else f'"{if_match}"'
    if if_absent:
        found["if-none-match"] = "*"
    return found

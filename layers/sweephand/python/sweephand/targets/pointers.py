"""How a field's name is written in a JSON pointer (RFC 6901)."""


def pointer_part(name: str) -> str:
    """The name with what separates and what escapes escaped."""
    return name.replace("~", "~0").replace("/", "~1")

"""What keeps web pages of other sites from a server on loopback.

Every page that the developer opens can send requests to loopback addresses. So a server refuses each request
that a browser sends for a page of another site:

- `Origin` names another site, or none (`null`). Fetch, section 3.2, "`Origin` header".
- `Sec-Fetch-Site` is `cross-site` or `same-site`: another port of this machine is another site. Browsers send
  it with requests that have no `Origin`, such as those of an image (Fetch Metadata, section 2.4).
- `Host` is no name of this machine. A site can let its own name resolve to 127.0.0.1 ("DNS rebinding"). The
  browser then takes the server for a part of that site.

Programs such as curl send neither `Origin` nor `Sec-Fetch-Site`.
"""

import re
from collections.abc import Mapping
from typing import Final

_HOST: Final = re.compile(r"(?:127\.0\.0\.1|localhost)(?::[0-9]{1,5})?")


def refusal(headers: Mapping[str, str]) -> str | None:
    """Why a server does not answer a request with these headers; None if it does.

    The names of the headers are in lower case. A header that was sent twice has both values, with a comma.
    """
    host = headers.get("host", "").lower()
    if not _HOST.fullmatch(host):
        return "The header host must be 127.0.0.1 or localhost, with or without a port.\n"
    if headers.get("origin", f"http://{host}").lower() != f"http://{host}":
        return "The header origin must name this address, as the header host does.\n"
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return (
            "The header sec-fetch-site must be same-origin or none. Paste the address into the browser's "
            "address bar.\n"
        )
    return None

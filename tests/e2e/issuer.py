"""An issuer of JSON Web Tokens on the loopback: its keys, its configuration, and the tokens that it signs."""

import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

#: The name of the issuer's only key.
KEY_ID = "key-1"

HOUR_S = 3_600


class Issuer:
    """Serves `/.well-known/openid-configuration` and its keys while the context is open (OpenID Connect)."""

    def __init__(self, audience: str) -> None:
        self._audience = audience
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The issuer's name, which is its address."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def claims(self, **changed: Any) -> dict[str, Any]:
        """The claims of a token that is valid for an hour. None leaves a claim out."""
        now = int(time.time())
        claims = {"iss": self.url, "aud": self._audience, "iat": now, "exp": now + HOUR_S} | changed
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, **claims: Any) -> str:
        """A signed token with these claims."""
        return self.signed(self.claims(**claims))

    def signed(self, claims: Mapping[str, Any], header: Mapping[str, Any] | None = None) -> str:
        """These very claims, signed by RS256 (RFC 7515, appendix A.2)."""
        head = {"alg": "RS256", "typ": "JWT", "kid": KEY_ID, **(header or {})}
        content = ".".join(encoded(json.dumps(part).encode()) for part in (head, claims))
        signature = self._key.sign(content.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{content}.{encoded(signature)}"

    @cached_property
    def _key(self) -> rsa.RSAPrivateKey:
        return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)

    @property
    def keys(self) -> dict[str, Any]:
        """The public keys (RFC 7517)."""
        numbers = self._key.public_key().public_numbers()
        values = {"n": numbers.n, "e": numbers.e}
        key = {name: encoded(each.to_bytes((each.bit_length() + 7) // 8)) for name, each in values.items()}
        return {"keys": [{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": KEY_ID, **key}]}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = {
                    "/.well-known/openid-configuration": {
                        "issuer": issuer.url,
                        "jwks_uri": f"{issuer.url}/keys",
                    },
                    "/keys": issuer.keys,
                }.get(self.path)
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(found or {}).encode())

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler


def encoded(part: bytes) -> str:
    """A part of a token: base64url without padding."""
    return urlsafe_b64encode(part).decode().rstrip("=")

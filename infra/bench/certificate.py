"""A self-signed certificate for 127.0.0.1, which the client of the same bench trusts."""

import ssl
import subprocess
from pathlib import Path
from typing import Final

#: The variable with which OpenSSL finds the certificates that a process trusts.
TRUST_VARIABLE: Final = "SSL_CERT_FILE"

#: RSA with 2048 bits is the kind of key that many consumers have.
_COMMAND: Final = (
    "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=bench -addext subjectAltName=IP:127.0.0.1"
)


def write_certificate(folder: Path) -> Path:
    """Write a certificate and its key into a file of the folder, and return the file. It holds for a day."""
    file, key = folder / "consumer.pem", folder / "key.pem"
    subprocess.run(
        [*_COMMAND.split(), "-keyout", str(key), "-out", str(file)], check=True, capture_output=True
    )
    with file.open("a", encoding="ascii") as both:
        both.write(key.read_text(encoding="ascii"))
    return file


def server_context(file: Path) -> ssl.SSLContext:
    """The TLS context of a server with the certificate of that file."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context

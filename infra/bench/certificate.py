"""A self-signed certificate for 127.0.0.1, which the client of the same bench trusts."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

#: The variable with which OpenSSL finds the certificates that a process trusts.
TRUST_VARIABLE: Final = "SSL_CERT_FILE"

#: The kind of key that many consumers have.
_KEY_BITS: Final = 2_048


def write_certificate(folder: Path) -> Path:
    """Write a certificate and its key into a file of the folder, and return the file. It holds for a day."""
    key = rsa.generate_private_key(65_537, _KEY_BITS)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "bench")])
    began_at = datetime.now(UTC) - timedelta(hours=1)
    builder = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), began_at, began_at + timedelta(days=1)
    )
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    signed = (
        builder.add_extension(address, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "consumer.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    return file


def server_context(file: Path) -> ssl.SSLContext:
    """The TLS context of a server with the certificate of that file."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context

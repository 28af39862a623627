"""Measures the CPU time that a new TLS connection takes of the client, with a server on loopback."""

import multiprocessing
import socket
import ssl
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

_HOST: Final = "127.0.0.1"
_HANDSHAKES: Final = 200
_KEY_BITS: Final = 2_048


def handshake_cpu_ms() -> float:
    """The median CPU ms for connecting, with the check of an RSA certificate that an authority signed."""
    with tempfile.TemporaryDirectory() as folder, _server(Path(folder)) as port:
        context = ssl.create_default_context(cafile=Path(folder) / "authority.pem")
        return statistics.median(_handshake_ms(context, port) for _ in range(_HANDSHAKES))


def _handshake_ms(context: ssl.SSLContext, port: int) -> float:
    began = time.process_time()
    with (
        socket.create_connection((_HOST, port)) as plain,
        context.wrap_socket(plain, server_hostname=_HOST) as secured,
    ):
        secured.sendall(b"x")
        secured.recv(1)
    return (time.process_time() - began) * 1_000


@contextmanager
def _server(folder: Path) -> Iterator[int]:
    """The port of a server with a certificate in that folder. It answers a byte and hangs up."""
    _write_certificates(folder)
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(str(folder), theirs), daemon=True)
    process.start()
    try:
        port: int = ours.recv()
        yield port
    finally:
        process.terminate()
        process.join()


def _serve(folder: str, said: "multiprocessing.connection.Connection") -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(folder) / "server.pem", Path(folder) / "server.key")
    with socket.create_server((_HOST, 0)) as listening:
        said.send(listening.getsockname()[1])
        while True:
            plain, _ = listening.accept()
            with plain, suppress(OSError), context.wrap_socket(plain, server_side=True) as secured:
                secured.sendall(secured.recv(1))


def _write_certificates(folder: Path) -> None:
    authority_key = rsa.generate_private_key(65_537, _KEY_BITS)
    authority = _name("authority")
    server_key = rsa.generate_private_key(65_537, _KEY_BITS)
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address(_HOST))])
    signed = {
        "authority": _builder(authority, authority, authority_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(authority_key, hashes.SHA256()),
        "server": _builder(_name("server"), authority, server_key.public_key())
        .add_extension(address, critical=False)
        .sign(authority_key, hashes.SHA256()),
    }
    for name, certificate in signed.items():
        (folder / f"{name}.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "server.key").write_bytes(
        server_key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(subject: x509.Name, issuer: x509.Name, key: rsa.RSAPublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return x509.CertificateBuilder(
        issuer,
        subject,
        key,
        x509.random_serial_number(),
        now - timedelta(hours=1),
        now + timedelta(hours=1),
    )

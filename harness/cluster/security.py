"""What makes a cluster secured: TLS and SASL between its nodes, with a certificate and a password of this run only.

Controllers are authenticated by SASL/PLAIN, brokers among each other by SASL/SCRAM: SCRAM credentials lie in the
metadata log, which controllers can only read after they have authenticated each other.
docs/adr/0022-secured-and-static-topologies.md.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from harness.cluster.config import SECURE_BROKER_LISTENER, SECURE_CONTROLLER_LISTENER

USER = "node"
_VALID_DAYS = 7
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@dataclass(frozen=True, slots=True)
class Secrets:
    """A PEM file with key and certificate, which every node has and trusts, and the password of the user `node`."""

    pem: Path
    password: str


def make_secrets(folder: Path, hosts: Sequence[str]) -> Secrets:
    """Make a certificate for nodes on hosts (IP addresses), and a password; both are worth nothing after the run."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nodes of one run")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=_VALID_DAYS))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address(each)) for each in hosts]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder.mkdir(parents=True, exist_ok=True)
    pem = folder / "tls.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    pem.write_bytes(private + certificate.public_bytes(Encoding.PEM))
    (folder / "trusted.pem").write_bytes(certificate.public_bytes(Encoding.PEM))
    return Secrets(pem, secrets.token_hex(16))


def security_properties(known: Secrets) -> dict[str, str]:
    """Return the server properties of a node of a secured cluster."""
    controller = f"listener.name.{SECURE_CONTROLLER_LISTENER.lower()}"
    broker = f"listener.name.{SECURE_BROKER_LISTENER.lower()}"
    login = f'required username="{USER}" password="{known.password}"'
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(known.pem),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(known.pem.with_name("trusted.pem")),
        "sasl.mechanism.controller.protocol": "PLAIN",
        f"{controller}.sasl.enabled.mechanisms": "PLAIN",
        f"{controller}.plain.sasl.jaas.config": f'{_PLAIN} {login} user_{USER}="{known.password}";',
        "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
        f"{broker}.sasl.enabled.mechanisms": "SCRAM-SHA-256",
        f"{broker}.scram-sha-256.sasl.jaas.config": f"{_SCRAM} {login};",
    }

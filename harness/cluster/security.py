"""What makes a cluster secured: TLS and SASL between its nodes, with a certificate and a password of this run only.

Controllers are authenticated by SASL/PLAIN, brokers among each other by what the topology says, which is usually
SASL/SCRAM: SCRAM credentials lie in the metadata log, which controllers can only read after they have authenticated
each other. Clients of controllers may use SCRAM too. docs/adr/0022-secured-and-static-topologies.md.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from harness.cluster.config import SECURE_BROKER_LISTENER, SECURE_CONTROLLER_LISTENER
from harness.model.security import PLAIN, Security

USER = "node"
_VALID_DAYS = 7
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
_LISTENERS = (SECURE_BROKER_LISTENER, SECURE_CONTROLLER_LISTENER)
_OF_ANOTHER_CLUSTER = ("ssl.", "sasl.")


@dataclass(frozen=True, slots=True)
class Secrets:
    """A PEM file with key and certificate, which every node has and trusts, and the password of the user `node`."""

    pem: Path
    password: str = field(repr=False)

    @property
    def trusted(self) -> Path:
        """The certificate alone, for those who need not show it."""
        return self.pem.with_name("trusted.pem")


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
    made = Secrets(folder / "tls.pem", secrets.token_hex(16))
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    made.pem.write_bytes(private + certificate.public_bytes(Encoding.PEM))
    made.trusted.write_bytes(certificate.public_bytes(Encoding.PEM))
    return made


def without_security(overlay: Mapping[str, str]) -> dict[str, str]:
    """Return a user's server properties without stores and mechanisms that those of this cluster take the place of."""
    return {key: value for key, value in overlay.items() if not key.startswith(_OF_ANOTHER_CLUSTER)}


def security_properties(known: Secrets, security: Security) -> dict[str, str]:
    """Return the server properties of a node of a secured cluster."""
    return {
        **(_stores(known) if security.has_tls else {}),
        **(_certificates_demanded() if security.certificates else {}),
        **(_sasl(known, security) if security.mechanism else {}),
    }


def client_properties(known: Secrets, security: Security) -> dict[str, str]:
    """Return what Kafka's scripts are given by --command-config."""
    login = {"sasl.mechanism": security.mechanism, "sasl.jaas.config": _login(security.mechanism, known)}
    return {
        "security.protocol": security.protocol,
        **(_stores(known) if security.certificates else _trust(known) if security.has_tls else {}),
        **(login if security.mechanism else {}),
    }


def librdkafka_settings(known: Secrets, security: Security) -> dict[str, str]:
    """Return what a client of a load is given."""
    shown = {"ssl.certificate.location": str(known.pem), "ssl.key.location": str(known.pem)}
    login = {"sasl.mechanism": security.mechanism, "sasl.username": USER, "sasl.password": known.password}
    return {
        "security.protocol": security.protocol,
        **({"ssl.ca.location": str(known.trusted)} if security.has_tls else {}),
        **(shown if security.certificates else {}),
        **(login if security.mechanism else {}),
    }


def _trust(known: Secrets) -> dict[str, str]:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(known.trusted)}


def _stores(known: Secrets) -> dict[str, str]:
    return {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(known.pem), **_trust(known)}


def _certificates_demanded() -> dict[str, str]:
    return {f"{_listener(name)}.ssl.client.auth": "required" for name in _LISTENERS}


def _sasl(known: Secrets, security: Security) -> dict[str, str]:
    of_controllers = dict.fromkeys([PLAIN, *([security.mechanism] if security.clients else [])])
    return {
        "sasl.mechanism.controller.protocol": PLAIN,
        **_mechanisms(SECURE_CONTROLLER_LISTENER, of_controllers, known),
        "sasl.mechanism.inter.broker.protocol": security.mechanism,
        **_mechanisms(SECURE_BROKER_LISTENER, [security.mechanism], known),
    }


def _mechanisms(listener: str, mechanisms: Iterable[str], known: Secrets) -> dict[str, str]:
    named = list(mechanisms)
    logins = {f"{_listener(listener)}.{each.lower()}.sasl.jaas.config": _login(each, known) for each in named}
    return {f"{_listener(listener)}.sasl.enabled.mechanisms": ",".join(named), **logins}


def _listener(name: str) -> str:
    return f"listener.name.{name.lower()}"


def _login(mechanism: str, known: Secrets) -> str:
    """Return who logs in, and with PLAIN whom a server knows."""
    login = f'required username="{USER}" password="{known.password}"'
    return f'{_PLAIN} {login} user_{USER}="{known.password}";' if mechanism == PLAIN else f"{_SCRAM} {login};"

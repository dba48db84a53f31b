"""What of a user's --command-config a rehearsal goes by: how clients are let in, and nothing that is secret."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.base.errors import HarnessError, reason_of
from harness.base.text import cut, visible
from harness.cluster.config import parse_properties
from harness.cluster.topology import Topology
from harness.model.rollout import RollPlan
from harness.model.security import MECHANISMS, PROTOCOLS, Security
from harness.rollout.nodes import parse_topology

# What Kafka's clients take where a file says nothing (AdminClientConfig).
_PROTOCOL, _MECHANISM = "PLAINTEXT", "GSSAPI"
_CERTIFICATES = ("ssl.keystore.location", "ssl.keystore.key", "ssl.keystore.certificate.chain")
_MOST_SHOWN = 40
_WITHOUT = (
    "Leave it out: a cluster without TLS and SASL is rehearsed then, and runbook.sh takes your file as COMMAND_CONFIG."
)


def read_client_security(path: Path) -> Security:
    """Return by which protocol and mechanism clients come in, and whether they show a certificate.

    Of the file security.protocol, sasl.mechanism and the presence of a key store are looked at; every other value is
    forgotten. Raises HarnessError for a file that cannot be read, and for what the harness cannot rehearse.
    """
    said = _properties(path)
    protocol = said.get("security.protocol", _PROTOCOL).strip().upper()
    if protocol not in PROTOCOLS:
        raise HarnessError(
            f"--command-config {path}: security.protocol is {_shown(protocol)}, which Kafka does not know.",
            f"Name one of {', '.join(PROTOCOLS)}.",
        )
    has_sasl = protocol.startswith("SASL_")
    mechanism = said.get("sasl.mechanism", _MECHANISM).strip() if has_sasl else ""
    if has_sasl and mechanism not in MECHANISMS:
        raise HarnessError(f"--command-config {path}: {_not_rehearsed(mechanism, 'sasl.mechanism' in said)}", _WITHOUT)
    certificates = protocol.endswith("SSL") and any(said.get(key, "").strip() for key in _CERTIFICATES)
    return Security(protocol, mechanism, certificates, clients=True)


def _properties(path: Path) -> dict[str, str]:
    try:
        return parse_properties(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        why = reason_of(error)
    except ValueError:  # its text may quote the file
        why = "it is no UTF-8, or has an escape that is no character"
    raise HarnessError(
        f"--command-config {path} cannot be read as a properties file: {why}.",
        "Give the file that Kafka's scripts take by --command-config.",
    )


def _not_rehearsed(mechanism: str, is_said: bool) -> str:
    if mechanism == _MECHANISM:
        default = "" if is_said else ", which Kafka takes where sasl.mechanism is not said"
        return f"Kerberos (GSSAPI{default}) cannot be rehearsed, since the harness has no key distribution centre."
    return (
        f"sasl.mechanism {_shown(mechanism)} cannot be rehearsed: the harness sets up {', '.join(MECHANISMS[:-1])} and "
        f"{MECHANISMS[-1]} for the users of a run, and nobody who issues tokens."
    )


def _shown(value: str) -> str:
    return visible(cut(value, _MOST_SHOWN))


def topology_of(plan: RollPlan) -> Topology:
    """Return the topology of a rollout, secured as the user's clients expect it. Raises HarnessError."""
    return replace(parse_topology(plan.topology), security=plan.security)

"""How whoever connects to a secured listener is let in: in Kafka's own names (security.protocol, sasl.mechanism)."""

from __future__ import annotations

from dataclasses import dataclass

PLAIN = "PLAIN"
SCRAM_MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS = (PLAIN, *SCRAM_MECHANISMS)
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


@dataclass(frozen=True, slots=True)
class Security:
    """What the secured listeners of a cluster demand.

    `mechanism` is empty where the protocol has no SASL. With `certificates` who connects shows one of its own. With
    `clients` a load's clients and Kafka's scripts come in by these listeners too, and not by the plain ones.
    """

    protocol: str = "SASL_SSL"
    mechanism: str = SCRAM_MECHANISMS[0]
    certificates: bool = False
    clients: bool = False

    @property
    def has_tls(self) -> bool:
        """Whether connections are encrypted."""
        return self.protocol in ("SSL", "SASL_SSL")

    @property
    def has_credentials_in_log(self) -> bool:
        """Whether users are known by what lies in the metadata log: somebody has to put it there first."""
        return self.mechanism in SCRAM_MECHANISMS

    @property
    def words(self) -> str:
        """`TLS and SASL`."""
        named = {"TLS": self.has_tls, "SASL": bool(self.mechanism)}
        return " and ".join(word for word, is_so in named.items() if is_so) or self.protocol

    @property
    def in_kafkas_terms(self) -> str:
        """`SASL_SSL with SCRAM-SHA-512`, `SSL with client certificates`."""
        parts = [self.mechanism, "client certificates" if self.certificates else ""]
        return f"{self.protocol}{' with ' if any(parts) else ''}{' and '.join(filter(None, parts))}"

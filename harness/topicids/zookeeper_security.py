"""How an ensemble is to be talked to: TLS, SASL, or ZooKeeper's own digest, from a file; all of it checked first."""

from __future__ import annotations

import ssl
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError, reason_of
from harness.base.json import record_of
from harness.topicids.zookeeper_refusals import tls_reason

REMEDY = "Name a file with [tls], [sasl] or [digest] by --zookeeper-security (docs/topic-ids.md)."
_TLS = "Look at [tls] of --zookeeper-security: PEM files, ca with who signed the servers' certificates."
_DIGEST, _GSSAPI = "DIGEST-MD5", "GSSAPI"  # those of org.apache.zookeeper.server.ZooKeeperSaslServer


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files: whom to trust, and who we are."""

    ca: Path
    certificate: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True)
class Login:
    """Who we are to SASL (`mechanism` DIGEST-MD5 or GSSAPI) or to ZooKeeper's own digest scheme."""

    username: str = ""
    password: str = ""
    mechanism: str = _DIGEST


@dataclass(frozen=True, slots=True)
class ZooKeeperSecurity:
    """How an ensemble is to be talked to; nothing is plain text without a login."""

    tls: Tls | None = None
    sasl: Login | None = None
    digest: Login | None = None


def read_security(path: Path) -> ZooKeeperSecurity:
    """Return what a TOML file says. Raises HarnessError."""
    try:
        return record_of(ZooKeeperSecurity, tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, HarnessError) as error:
        why = reason_of(error).rstrip(".")
        raise HarnessError(f"{path} does not say how ZooKeeper is to be talked to: {why}.", REMEDY) from error


def client_options(security: ZooKeeperSecurity) -> Mapping[str, Any]:
    """Return what a client takes of it. Raises HarnessError for what no connection could come of."""
    return {
        "auth_data": _auth_data(security.digest),
        "sasl_options": _sasl_options(security.sasl),
        "use_ssl": security.tls is not None,
        "check_hostname": security.tls is not None,
        "verify_certs": True,
        **(_tls_options(security.tls) if security.tls else {}),
    }


def _auth_data(login: Login | None) -> Sequence[tuple[str, str]]:
    return [("digest", f"{login.username}:{login.password}")] if login else []


def _sasl_options(login: Login | None) -> dict[str, str] | None:
    if login is None:
        return None
    if login.mechanism == _GSSAPI:
        _check_kerberos()
        return {"mechanism": _GSSAPI}
    if login.mechanism != _DIGEST:
        raise HarnessError(f"ZooKeeper has no SASL mechanism {login.mechanism!r}.", f"Name {_DIGEST} or {_GSSAPI}.")
    if not login.username or not login.password:
        raise HarnessError(f"SASL's {_DIGEST} needs a username and a password.", "Name both in [sasl].")
    return {"mechanism": _DIGEST, "username": login.username, "password": login.password}


def _check_kerberos() -> None:
    from puresasl import mechanisms

    if not mechanisms.have_kerberos:
        raise HarnessError(
            f"SASL's {_GSSAPI} needs the Python package kerberos, which is not installed.",
            f"Install it beside the harness, or name {_DIGEST}.",
        )


def _tls_options(tls: Tls) -> dict[str, str | None]:
    """Return the files; each is read here once, since a client would only try again and again."""
    if (tls.certificate is None) != (tls.key is None):
        raise HarnessError("Of certificate and key in [tls] only one is named.", "Name both, or none.")
    ca, certificate, key = (_file(each) if each else None for each in (tls.ca, tls.certificate, tls.key))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(ca)
    except OSError as error:
        raise HarnessError(f"{ca} holds no certificate that could be trusted: {_why(error)}.", _TLS) from error
    try:
        if certificate:
            context.load_cert_chain(certificate, key, password="")  # else OpenSSL would ask at the terminal
    except OSError as error:
        why = _why(error)
        raise HarnessError(
            f"{certificate} and {key} are no certificate and its key, without a password: {why}.", _TLS
        ) from error
    return {"ca": ca, "certfile": certificate, "keyfile": key}


def _file(path: Path) -> str:
    try:
        if path.expanduser().is_file():
            return str(path.expanduser())
    except OSError as error:
        raise HarnessError(f"{path} cannot be looked at (--zookeeper-security): {error.strerror}.", REMEDY) from error
    raise HarnessError(f"There is no file {path} (--zookeeper-security).", REMEDY)


def _why(error: OSError) -> str:
    return tls_reason(error) if isinstance(error, ssl.SSLError) else reason_of(error)

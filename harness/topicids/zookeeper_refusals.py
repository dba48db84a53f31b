"""Why there is no session with a ZooKeeper: what its client met last, as a sentence with what to do."""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_FILE = "--zookeeper-security"
_PROBE_SECONDS = 3.0
_ADDRESS = "Is the address that of the brokers' zookeeper.connect?"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why, as a clause, and what to do now."""

    why: str
    remedy: str


_NOT_TRUSTED = f"Name who signed it by ca in [tls] of {_FILE}; the address must be a name or an IP that it is for."
_NO_TLS = Refusal("its port does not speak TLS", f"Name the secureClientPort, or leave [tls] out of {_FILE}.")
_ONLY_TLS = Refusal("its port speaks TLS, and was spoken to in plain text", f"Name a file with [tls] by {_FILE}.")
_LOGIN = Refusal(
    "it refuses the SASL login", f"Are username, password and mechanism in [sasl] of {_FILE} those of the ensemble?"
)
_NO_LOGIN = Refusal("it demands a SASL login", f"Name a file with [sasl] by {_FILE}.")
_SILENT = Refusal("it does not answer", _ADDRESS)
_NO_CERTIFICATE = f"It may want a certificate of ours that it trusts: certificate and key in [tls] of {_FILE}."
_AFTER_TLS = Refusal("it ends the connection once TLS is spoken", _NO_CERTIFICATE)


class LastError(logging.Handler):
    """Keeps the last error that a client writes into its log, which goes nowhere else."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.error: BaseException | None = None
        self.logger = logging.Logger("zookeeper")
        self.logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what the record is about, if that is an error."""
        caught = record.exc_info[1] if record.exc_info else None
        named = (each for each in record.args or () if isinstance(each, BaseException))
        self.error = caught or next(named, self.error)


def refusal(
    *errors: BaseException | None, hosts: Iterable[tuple[str, int]] = (), tls: bool = False, login: bool = False
) -> Refusal:
    """Return why there is no session, by what the client met and by what a request came to.

    `tls` and `login` say what was spoken; where it may be for TLS, the servers are asked whether they speak it.
    """
    from kazoo.exceptions import AuthFailedError, SessionClosedRequireSaslError
    from kazoo.handlers.threading import KazooTimeoutError

    chain = [each for error in errors for each in _chain(error)]
    certificate = next((each for each in chain if isinstance(each, ssl.SSLCertVerificationError)), None)
    if certificate is not None:
        return Refusal(f"its certificate is not trusted ({tls_reason(certificate)})", _NOT_TRUSTED)
    alert = next((each for each in chain if isinstance(each, ssl.SSLError) and _is_alert(each)), None)
    if alert is not None:
        return Refusal(f"it refuses us in the TLS handshake ({tls_reason(alert)})", _NO_CERTIFICATE)
    if login and any(isinstance(each, AuthFailedError | SessionClosedRequireSaslError) for each in chain):
        return _LOGIN
    if any(isinstance(each, SessionClosedRequireSaslError) for each in chain):
        return _NO_LOGIN
    if any(isinstance(each, ConnectionRefusedError) for each in chain):
        return Refusal("nobody listens there", _ADDRESS)
    if any(isinstance(each, socket.gaierror) for each in chain):
        return Refusal("its name is not known", _ADDRESS)
    speaks = any(_speaks_tls(*each) for each in hosts)
    if speaks and not tls:
        return _ONLY_TLS
    if any(isinstance(each, TimeoutError | KazooTimeoutError) for each in chain):
        return _SILENT
    if speaks:
        return _AFTER_TLS
    if tls and any(isinstance(each, ssl.SSLError | ConnectionError) for each in chain):
        return _NO_TLS
    met = chain[0] if chain else None
    return Refusal(str(met) or type(met).__name__, _ADDRESS) if met else _SILENT


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that it came of."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def tls_reason(error: ssl.SSLError) -> str:
    """Return OpenSSL's reason in words."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message.rstrip(".")
    return (error.reason or str(error)).replace("_", " ").lower()


def _is_alert(error: ssl.SSLError) -> bool:
    """Whether the other side has said no, in TLS."""
    return "ALERT" in (error.reason or "")


def _speaks_tls(host: str, port: int) -> bool:
    """Whether a port answers a TLS handshake, even if only to refuse it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # asked is whether, not whom
    try:
        with (
            socket.create_connection((host, port), _PROBE_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=host),
        ):
            return True
    except ssl.SSLError as error:
        return _is_alert(error)
    except OSError:
        return False

"""A ZooKeeper that gives no session: what it refuses is said, and what to do; its servers here only shake hands."""

import gc
import socket
import ssl
import threading
from contextlib import contextmanager

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat
from kazoo.exceptions import AuthFailedError, ConnectionLoss, SessionClosedRequireSaslError, SessionExpiredError
from kazoo.handlers.threading import KazooTimeoutError

from harness.base.errors import HarnessError
from harness.cluster.security import make_secrets
from harness.topicids import zookeeper, zookeeper_refusals
from harness.topicids.zookeeper import connected
from harness.topicids.zookeeper_refusals import LastError, refusal
from harness.topicids.zookeeper_security import Login, Tls, ZooKeeperSecurity, client_options, read_security

PLAIN = ZooKeeperSecurity()


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Give up soon: whoever refuses here does it at once."""
    monkeypatch.setattr(zookeeper, "_CONNECT_SECONDS", 1.5)
    monkeypatch.setattr(zookeeper, "_SESSION_SECONDS", 1.0)
    monkeypatch.setattr(zookeeper, "_ENDING_SECONDS", 0.1)
    monkeypatch.setattr(zookeeper_refusals, "_PROBE_SECONDS", 0.5)
    yield
    gc.collect()


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    """Return the folder of a server's key and certificate, and of what trusts it."""
    return make_secrets(tmp_path_factory.mktemp("server"), ["127.0.0.1"]).pem.parent


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    return make_secrets(tmp_path_factory.mktemp("other"), ["127.0.0.1"]).pem.parent


@contextmanager
def server(greet):
    """Yield the address of a server that greets whoever comes, and says no more."""

    def serve() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            with client:
                try:
                    greet(client)
                except OSError:
                    continue

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def tls_server(folder, trusted=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.pem")
    if trusted:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(trusted / "trusted.pem")

    def greet(client: socket.socket) -> None:
        with context.wrap_socket(client, server_side=True) as spoken:
            spoken.recv(1)

    return server(greet)


def plain_server():
    """Do as ZooKeeper does with what is no request of its own: close."""
    return server(lambda client: client.recv(100))


def refused(address: str, security: ZooKeeperSecurity = PLAIN) -> tuple[str, str]:
    with pytest.raises(HarnessError) as error, connected(address, security):
        pass
    said = error.value.message.removeprefix(f"ZooKeeper at {address} gives no session: ")
    assert said != error.value.message
    return said, error.value.hint


def tls(folder, *, certificate=False) -> ZooKeeperSecurity:
    own = folder / "tls.pem" if certificate else None
    return ZooKeeperSecurity(Tls(folder / "trusted.pem", own, own))


def test_a_certificate_that_another_ca_has_signed_is_not_trusted(ca, other):
    with tls_server(ca) as address:
        said, remedy = refused(address, tls(other))
    assert said.startswith("its certificate is not trusted (self-signed certificate")
    assert remedy.startswith("Name who signed it by ca in [tls] of --zookeeper-security")


def test_a_certificate_for_another_address_is_not_trusted(tmp_path):
    folder = make_secrets(tmp_path, ["127.0.0.2"]).pem.parent
    with tls_server(folder) as address:
        said, _ = refused(address, tls(folder))
    assert said.startswith("its certificate is not trusted (IP address mismatch")


def test_a_port_that_speaks_no_tls_is_told_from_one_that_speaks_nothing_else(ca):
    with plain_server() as address:
        said, remedy = refused(address, tls(ca))
    assert (said, remedy[:29]) == ("its port does not speak TLS.", "Name the secureClientPort, or")
    with tls_server(ca) as address:
        said, remedy = refused(address)
    assert said == "its port speaks TLS, and was spoken to in plain text."
    assert remedy == "Name a file with [tls] by --zookeeper-security."


def test_a_server_that_wants_a_certificate_of_ours_refuses_us(ca, other):
    with tls_server(ca, trusted=ca) as address:
        strange = ZooKeeperSecurity(Tls(ca / "trusted.pem", other / "tls.pem", other / "tls.pem"))
        for security in (tls(ca), strange):
            said, remedy = refused(address, security)  # whether the alert is read, or the end first, is chance
            assert said.startswith(("it refuses us in the TLS handshake (", "it ends the connection once TLS is"))
            assert remedy.startswith("It may want a certificate of ours that it trusts: certificate and key in [tls]")


def test_nobody_there_no_such_name_and_silence_are_told_apart(ca):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        assert refused(f"127.0.0.1:{held.getsockname()[1]}")[0] == "nobody listens there."
    assert refused("nowhere.invalid:2181")[0] == "its name is not known."
    with server(lambda _: threading.Event().wait()) as address:
        for security in (PLAIN, tls(ca)):
            assert refused(address, security)[0] == "it does not answer."
    with plain_server() as address:
        assert refused(address)[0] == "socket connection broken."


def test_a_thread_that_ends_by_an_error_ends_the_waiting_and_prints_no_traceback(monkeypatch, capfd):
    """What a client's library raises in its thread is in its log, and so in the sentence."""
    import kazoo.protocol.connection

    def broken(self, *_):
        raise RuntimeError("of the library")

    monkeypatch.setattr(zookeeper, "_CONNECT_SECONDS", 60.0)
    monkeypatch.setattr(kazoo.protocol.connection.ConnectionHandler, "_connect", broken)
    assert refused("127.0.0.1:1")[0] == "of the library."
    assert capfd.readouterr() == ("", "")


# What a request comes to


@pytest.mark.parametrize(
    ("errors", "says"),
    [
        ((AuthFailedError("Connection dropped in SASL"), ConnectionLoss()), "it refuses the SASL login"),
        ((None, SessionClosedRequireSaslError()), "it refuses the SASL login"),
        ((KazooTimeoutError("x"), None), "it does not answer"),
        ((None, SessionExpiredError()), "SessionExpiredError"),
        ((None, None), "it does not answer"),
        ((OSError(113, "No route to host"), None), "[Errno 113] No route to host"),
    ],
)
def test_what_a_client_met_says_more_than_what_a_request_came_to(errors, says):
    for tls_is_spoken in (False, True):
        assert refusal(*errors, login=True, tls=tls_is_spoken).why == says


def test_a_login_that_was_not_tried_is_demanded():
    assert refusal(None, SessionClosedRequireSaslError()).why == "it demands a SASL login"


def test_the_last_error_of_a_log_is_kept():
    met = LastError()
    met.logger.warning("Connection dropped: %s", first := OSError("first"))
    assert met.error is first
    met.logger.warning("nothing of %s", "errors")
    met.logger.info("Connection dropped: %s", OSError("of no weight"))
    assert met.error is first
    met.logger.error("Unhandled", exc_info=(second := ValueError("second")))
    assert met.error is second


# What is refused before anything is asked


def encrypted(folder, to):
    key = ec.generate_private_key(ec.SECP256R1())
    to.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")))
    return Tls(folder / "trusted.pem", folder / "trusted.pem", to)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (lambda ca, *_: Tls(ca / "gone.pem"), "There is no file .*gone.pem"),
        (lambda ca, *_: Tls(ca), "There is no file"),
        (lambda ca, other, tmp: Tls(garbage(tmp)), "garbage holds no certificate that could be trusted: "),
        (lambda ca, *_: Tls(ca / "trusted.pem", ca / "tls.pem"), "Of certificate and key in .tls. only one is named"),
        (lambda ca, *_: Tls(ca / "trusted.pem", None, ca / "tls.pem"), "Of certificate and key in .tls. only one"),
        (
            lambda ca, other, _: Tls(ca / "trusted.pem", ca / "tls.pem", other / "tls.pem"),
            "tls.pem are no certificate and its key, without a password: key values mismatch",
        ),
        (lambda ca, _, tmp: Tls(ca / "trusted.pem", ca / "tls.pem", garbage(tmp)), "are no certificate and its key"),
        (lambda ca, _, tmp: encrypted(ca, tmp / "locked.pem"), "are no certificate and its key, without a password"),
    ],
)
def test_files_of_tls_that_cannot_be_read_or_do_not_belong_together_are_a_sentence(ca, other, tmp_path, options, says):
    with pytest.raises(HarnessError, match=says):
        client_options(ZooKeeperSecurity(options(ca, other, tmp_path)))


def garbage(folder):
    (folder / "garbage").write_text("-----BEGIN CERTIFICATE-----\nxyz\n")
    return folder / "garbage"


@pytest.mark.parametrize(
    ("login", "says"),
    [
        (Login("kafka", "secret", "SCRAM-SHA-256"), "ZooKeeper has no SASL mechanism 'SCRAM-SHA-256'"),
        (Login("kafka", "secret", "PLAIN"), "ZooKeeper has no SASL mechanism 'PLAIN'"),
        (Login("kafka"), "SASL's DIGEST-MD5 needs a username and a password"),
        (Login(password="secret"), "SASL's DIGEST-MD5 needs a username and a password"),
    ],
)
def test_a_login_that_no_ensemble_could_take_is_a_sentence(login, says):
    with pytest.raises(HarnessError, match=says):
        client_options(ZooKeeperSecurity(sasl=login))


def test_gssapi_needs_a_package_that_may_be_missing(monkeypatch):
    from puresasl import mechanisms

    security = ZooKeeperSecurity(sasl=Login(mechanism="GSSAPI"))
    monkeypatch.setattr(mechanisms, "have_kerberos", False)
    with pytest.raises(HarnessError, match="GSSAPI needs the Python package kerberos, which is not installed"):
        client_options(security)
    monkeypatch.setattr(mechanisms, "have_kerberos", True)
    assert client_options(security)["sasl_options"] == {"mechanism": "GSSAPI"}


def test_a_file_that_names_everything_is_what_a_client_takes(ca, tmp_path):
    path = tmp_path / "zk.toml"
    own = f'certificate = "{ca}/tls.pem"\nkey = "{ca}/tls.pem"'
    path.write_text(
        f'[tls]\nca = "{ca}/trusted.pem"\n{own}\n[sasl]\nusername = "u"\npassword = "p"\n'
        '[digest]\nusername = "d"\npassword = "q"\n'
    )
    assert client_options(read_security(path)) == {
        "auth_data": [("digest", "d:q")],
        "sasl_options": {"mechanism": "DIGEST-MD5", "username": "u", "password": "p"},
        "use_ssl": True,
        "check_hostname": True,
        "verify_certs": True,
        "ca": f"{ca}/trusted.pem",
        "certfile": f"{ca}/tls.pem",
        "keyfile": f"{ca}/tls.pem",
    }
    with pytest.raises(
        HarnessError, match=r"gone.toml does not say how .* to: No such file or directory\. Name a file"
    ):
        read_security(tmp_path / "gone.toml")
    for bad in ("[tls]\n", "[tlss]\n", "{", '[sasl]\nuser = "x"\n'):
        path.write_text(bad)
        with pytest.raises(HarnessError, match="does not say how ZooKeeper is to be talked to"):
            read_security(path)

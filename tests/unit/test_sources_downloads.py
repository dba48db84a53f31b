"""Downloads: only pinned content is ever handed out, against a repository on this machine."""

import hashlib
import http.server
import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.kafka.lock import known_pins, locked_versions, read_lock
from harness.toolbox.downloads import REPOSITORY_VARIABLE, Downloads, Pin
from harness.toolbox.lockfile import Artifact, Purpose


class Repository:
    """A Maven repository over HTTP; `requests` are the paths asked for, `cut` makes it break off each answer."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.cut = False
        self.answers: dict[str, list[int]] = {}  # statuses before the file itself, by its path
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                path = self.path.lstrip("/")
                if outer.answers.get(path):
                    self.answer(outer.answers[path].pop(0), b"")
                else:
                    self.answer(200 if path in outer.files else 404, outer.files.get(path, b""))

            def do_GET(self) -> None:
                path = self.path.lstrip("/")
                outer.requests.append(path)
                content = outer.files.get(path, b"")
                self.answer(200 if path in outer.files else 404, content)
                self.wfile.write(content[: -1 if outer.cut else None])

            def answer(self, status: int, content: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"

    def asked_for(self, path: str) -> int:
        return self.requests.count(path)


@pytest.fixture
def repository() -> Iterator[Repository]:
    served = Repository()
    thread = threading.Thread(target=served.server.serve_forever, args=(0.01,))
    thread.start()
    yield served
    served.server.shutdown()
    thread.join()
    served.server.server_close()


def pinned(name: str, content: bytes) -> Artifact:
    digest = hashlib.sha256(content).hexdigest()
    return Artifact(f"a.b:{name}:jar:1.0", digest, len(content), Purpose.RUNTIME)


def jar_bytes() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as jar:
        jar.writestr(zipfile.ZipInfo("x"), "y")  # of no time: every one has the same bytes
    return file.getvalue()


def left_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_pinned_file_is_fetched_once_and_then_served_by_the_cache(tmp_path, repository):
    artifact = pinned("one", b"content")
    repository.files[artifact.path] = b"content"
    downloads = Downloads(tmp_path, repository.address)
    assert downloads.fetch(artifact).read_bytes() == b"content"
    assert downloads.fetch(artifact) == tmp_path / artifact.path
    assert repository.asked_for(artifact.path) == 1
    assert left_in(tmp_path) == [artifact.path]


def test_a_file_with_another_checksum_is_refused_and_not_kept(tmp_path, repository):
    artifact = pinned("one", b"content")
    repository.files[artifact.path] = b"CONTENT"
    got = hashlib.sha256(b"CONTENT").hexdigest()
    with pytest.raises(HarnessError, match=f"{artifact.coordinate}.*{artifact.sha256}.*{got}.*deleted"):
        Downloads(tmp_path, repository.address).fetch(artifact)
    assert left_in(tmp_path) == []


def test_a_cached_file_that_was_changed_is_fetched_again(tmp_path, repository):
    artifact = pinned("one", b"content")
    repository.files[artifact.path] = b"content"
    cached = tmp_path / artifact.path
    cached.parent.mkdir(parents=True)
    cached.write_bytes(b"c0ntent")
    assert Downloads(tmp_path, repository.address).fetch(artifact).read_bytes() == b"content"


def test_offline_asks_nobody_and_says_what_is_missing(tmp_path, repository):
    artifact = pinned("one", b"content")
    repository.files[artifact.path] = b"content"
    with pytest.raises(HarnessError, match=f"{artifact.coordinate}.*--offline.*Run once without"):
        Downloads(tmp_path, repository.address, offline=True).fetch(artifact)
    assert repository.requests == []


def test_offline_serves_what_is_cached(tmp_path, repository):
    artifact = pinned("one", b"content")
    repository.files[artifact.path] = b"content"
    Downloads(tmp_path, repository.address).fetch(artifact)
    assert Downloads(tmp_path, repository.address, offline=True).fetch(artifact).is_file()


def test_a_broken_connection_is_tried_again_and_then_reported(tmp_path, repository):
    artifact = pinned("one", b"content")
    repository.files[artifact.path] = b"content"
    repository.cut = True
    with pytest.raises(
        HarnessError, match=r"could not be fetched from 127\.0\.0\.1.*HARNESS_MAVEN_REPOSITORY.*--offline"
    ):
        Downloads(tmp_path, repository.address).fetch(artifact)
    assert repository.asked_for(artifact.path) == 2
    assert left_in(tmp_path) == []


def test_a_repository_that_does_not_answer_is_named_without_its_password(tmp_path):
    with pytest.raises(HarnessError, match=r"fetched from 127\.0\.0\.1: the connection failed") as caught:
        Downloads(tmp_path, "http://user:secret@127.0.0.1:9").fetch(pinned("one", b"x"))
    assert "secret" not in str(caught.value)


def test_a_busy_repository_is_asked_again_and_one_that_refuses_is_told_of_by_its_answer(tmp_path, repository):
    artifact = pinned("one", b"content")
    repository.files[artifact.path] = b"content"
    repository.answers[artifact.path] = [503]
    assert Downloads(tmp_path / "busy", repository.address).fetch(artifact).read_bytes() == b"content"
    repository.answers[artifact.path] = [403] * 9
    with pytest.raises(HarnessError, match=r"could not be fetched from .*: it answered 403\..*Check the login"):
        Downloads(tmp_path / "refused", repository.address).fetch(artifact)


def pom(artifact: str, *needs: str) -> bytes:
    needed = "".join(
        f"<dependency><groupId>a.b</groupId><artifactId>{each}</artifactId><version>1.0</version></dependency>"
        for each in needs
    )
    return (
        f"<project><modelVersion>4.0.0</modelVersion><groupId>a.b</groupId><artifactId>{artifact}</artifactId>"
        f"<version>1.0</version><dependencies>{needed}</dependencies></project>"
    ).encode()


def resolved(context) -> list[str]:
    found, behind = context.resolver.resolve([context.create_dependency("a.b:one:jar:1.0")])
    return sorted(each.artifact.artifactId for each in (*found, *behind))


def test_one_answer_that_a_repository_failed_to_give_takes_no_dependency_away(tmp_path, repository):
    """The library would resolve the module as if it needed nothing."""
    for name, needs in (("one", ["two"]), ("two", ["three"]), ("three", [])):
        repository.files[f"a/b/{name}/1.0/{name}-1.0.pom"] = pom(name, *needs)
    path = "a/b/two/1.0/two-1.0.pom"
    repository.answers[path] = [503]
    assert Downloads(tmp_path, repository.address).ask("one", resolved) == ["one", "three", "two"]
    repository.answers[path] = [503] * 9
    with pytest.raises(HarnessError, match="it answered 503"):
        Downloads(tmp_path, repository.address).ask("one", resolved)


def test_a_page_in_place_of_a_file_of_mavens_is_named(tmp_path, repository):
    repository.files["a/b/one/1.0/one-1.0.pom"] = b"<html><p>Log in"
    with pytest.raises(HarnessError, match="answers with something that is no Maven file"):
        Downloads(tmp_path, repository.address).ask("one", resolved)


def test_certificates_that_are_not_there_are_named_with_their_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "gone.pem"))
    with pytest.raises(HarnessError, match=r"certificates cannot be read: .*gone\.pem.*REQUESTS_CA_BUNDLE"):
        Downloads(tmp_path, "https://127.0.0.1:9").fetch(pinned("one", b"x"))


def test_an_artifact_that_the_repository_lacks_is_named(tmp_path, repository):
    with pytest.raises(HarnessError, match=r"a\.b:one:jar:1\.0 is not to be had from 127\.0\.0\.1"):
        Downloads(tmp_path, repository.address).fetch(pinned("one", b"x"))


def test_several_files_come_in_the_order_in_which_they_were_asked_for(tmp_path, repository):
    artifacts = [pinned(f"n{number}", str(number).encode()) for number in range(9)]
    repository.files = {artifact.path: artifact.coordinate[5:6].encode() for artifact in artifacts}
    paths = Downloads(tmp_path, repository.address).fetch_all(artifacts)
    assert [path.read_text() for path in paths] == [str(number) for number in range(9)]


def test_two_processes_that_fetch_the_same_file_both_get_it(tmp_path, repository):
    artifact = pinned("one", b"content")
    repository.files[artifact.path] = b"content"
    both = [Downloads(tmp_path, repository.address) for _ in range(2)]
    threads = [threading.Thread(target=each.fetch, args=(artifact,)) for each in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert left_in(tmp_path) == [artifact.path]


def test_progress_counts_every_byte(tmp_path, repository):
    heard: list[tuple[str, int, int]] = []

    class Ears:
        def advance(self, name: str, done: int, total: int) -> None:
            heard.append((name, done, total))

    artifact = pinned("one", b"x" * 20_000)
    repository.files[artifact.path] = b"x" * 20_000
    Downloads(tmp_path, repository.address, show=lambda: nullcontext(Ears())).fetch(artifact)
    assert [done for _, done, _ in heard] == sorted({done for _, done, _ in heard})
    assert heard[-1] == ("one-1.0.jar", 20_000, 20_000)


def test_the_environment_names_a_repository_and_an_argument_overrules_it(tmp_path, repository, monkeypatch):
    artifact = pinned("one", b"content")
    repository.files[artifact.path] = b"content"
    monkeypatch.setenv(REPOSITORY_VARIABLE, repository.address + "/")
    assert Downloads(tmp_path / "a").fetch(artifact).is_file()
    monkeypatch.setenv(REPOSITORY_VARIABLE, "http://127.0.0.1:9")
    assert Downloads(tmp_path / "b", repository.address).fetch(artifact).is_file()


@pytest.mark.parametrize(
    "address", ["ftp://somewhere", "me:secret@somewhere", "file:///etc", "https://[bad", "https://"]
)
def test_only_web_addresses_are_repositories_and_none_is_told(tmp_path, address):
    with pytest.raises(HarnessError, match="does not name a repository's address") as caught:
        Downloads(tmp_path, address)
    assert "secret" not in str(caught.value)


def test_pinning_records_what_came(tmp_path, repository):
    content = jar_bytes()
    wanted = pinned("one", content)
    repository.files[wanted.path] = content
    assert Downloads(tmp_path, repository.address).pin_all([(wanted.coordinate, Purpose.RUNTIME)]) == (wanted,)
    assert (tmp_path / wanted.path).read_bytes() == content


def test_another_file_than_a_lock_pins_is_refused_and_the_cached_one_stays(tmp_path, repository):
    wanted, other = pinned("one", jar_bytes()), jar_bytes() + b"more"
    repository.files[wanted.path] = other
    (tmp_path / wanted.path).parent.mkdir(parents=True)
    (tmp_path / wanted.path).write_bytes(jar_bytes())
    known = {wanted.path: Pin(wanted.sha256, "3.9.1.lock")}
    with pytest.raises(HarnessError, match=rf"3\.9\.1\.lock pins {wanted.sha256}: what is released never changes"):
        Downloads(tmp_path, repository.address).pin_all([(wanted.coordinate, Purpose.RUNTIME)], known)
    assert (tmp_path / wanted.path).read_bytes() == jar_bytes()


def test_every_shipped_lock_is_known_by_its_pins_and_no_two_differ():
    pins = known_pins()
    for version in locked_versions():
        for artifact in read_lock(version).artifacts:
            assert pins[artifact.path].sha256 == artifact.sha256


def test_an_incomplete_jar_is_never_pinned(tmp_path, repository):
    content = jar_bytes()[:-10]
    repository.files[pinned("one", content).path] = content
    with pytest.raises(HarnessError, match="incomplete"):
        Downloads(tmp_path, repository.address).pin_all([("a.b:one:jar:1.0", Purpose.RUNTIME)])
    assert left_in(tmp_path) == []


def test_nothing_is_written_beside_the_cache(tmp_path, repository):
    artifact = pinned("one", b"content")
    repository.files[artifact.path] = b"content"
    Downloads(tmp_path / "cache", repository.address).fetch(artifact)
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_pinning_again_leaves_a_cached_file_as_it_is(tmp_path, repository):
    wanted = pinned("one", jar_bytes())
    repository.files[wanted.path] = jar_bytes()
    downloads, cached = Downloads(tmp_path, repository.address), tmp_path / wanted.path
    downloads.pin_all([(wanted.coordinate, Purpose.RUNTIME)])
    before = cached.stat()
    assert downloads.pin_all([(wanted.coordinate, Purpose.RUNTIME)]) == (wanted,)
    assert (cached.stat().st_ino, cached.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    cached.write_bytes(b"another")
    assert downloads.pin_all([(wanted.coordinate, Purpose.RUNTIME)]) == (wanted,)
    assert cached.read_bytes() == jar_bytes()


def test_a_version_that_no_repository_can_have_is_a_sentence(tmp_path):
    with pytest.raises(HarnessError, match=r"3\.9\.1\+acme\.2' is not a coordinate"):
        Downloads(tmp_path).pin_all([("org.apache.kafka:connect-runtime:jar:3.9.1+acme.2", Purpose.SOURCES)])

"""Images of packages without making one: apt's sources in both formats, the command, and what moved."""

import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.base.paths import user_data_root
from harness.building.containers import debian
from harness.building.containers.aptsources import AptSource, host_sources, is_of, parse_deb822, parse_list
from harness.building.containers.debian import (
    ImageInputs,
    bootstrap_command,
    moved,
    packages_in,
    read_recipe,
    reason_in,
)

KEY = "/usr/share/keyrings/debian.gpg"
DEB822 = f"""\
# the main archive
Types: deb deb-src
URIs: https://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: {KEY}

Enabled: no
Types: deb
URIs: https://other.example/
Suites: bookworm
Components: main

Types: deb-src
URIs: https://sources.example/
Suites: bookworm
"""
MADE = ImageInputs(("https://mirror.example/debian bookworm",), ("gradle=4.4.1-18", "libc6=2.36"), "sha256:1")


def test_both_formats_say_the_same():
    lines = (
        f"deb [signed-by={KEY}] https://mirror.example/debian bookworm main contrib\n"
        "# deb https://other.example bookworm main\n"
        "deb-src https://sources.example/ bookworm main\n"
        f"deb [signed-by={KEY}] https://mirror.example/debian bookworm-updates main contrib  # fixes\n"
    )
    assert list(parse_list(lines)) == list(parse_deb822(DEB822))
    assert [source.suite for source in parse_deb822(DEB822)] == ["bookworm", "bookworm-updates"]


def test_a_field_may_go_on_over_lines_and_a_key_within_the_field_is_left_to_apt():
    text = "Types: deb\nURIs: https://a/\n https://b/\nSuites: sid\nComponents:\n main\nSigned-By:\n -----BEGIN\n .\n"
    found = list(parse_deb822(text))
    assert [source.uri for source in found] == ["https://a/", "https://b/"]
    assert {source.options for source in found} == {()}


def test_a_source_reads_back_from_its_own_line():
    for source in parse_deb822(DEB822):
        assert list(parse_list(source.line)) == [source]


@given(st.text(max_size=60))
def test_no_text_breaks_the_parsers(text):
    assert all(isinstance(source, AptSource) for source in [*parse_list(text), *parse_deb822(text)])


def test_a_password_in_an_address_is_not_recorded():
    source = AptSource("https://me:secret@mirror.example/debian", "bookworm", ("main",))
    assert source.public == "https://mirror.example/debian bookworm"
    assert "secret" in source.line, "apt needs it"


def test_only_the_distributions_own_suites_are_taken(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d" / "debian.sources").write_text(DEB822)
    (tmp_path / "sources.list.d" / "node.list").write_text("deb https://node.example nodistro main\n")
    (tmp_path / "sources.list.d" / "old.list.disabled").write_text("deb https://old.example bookworm main\n")
    assert [source.suite for source in host_sources("bookworm", tmp_path)] == ["bookworm", "bookworm-updates"]
    with pytest.raises(HarnessError, match="name no suite of trixie"):
        host_sources("trixie", tmp_path)


@pytest.mark.parametrize(
    ("suite", "own"),
    [
        ("bookworm", True),
        ("bookworm-security", True),
        ("bookworm/updates", True),
        ("bookworm-backports", False),
        ("trixie", False),
        ("", False),
    ],
)
def test_which_suites_are_a_distributions_own(suite, own):
    assert is_of(suite, "bookworm") is own


def test_the_recipe_becomes_one_command():
    command = bootstrap_command("/m", read_recipe(), "bookworm", Path("/list"), Path("/hooks"), Path("/tar"))
    assert command[0] == "/m"
    assert command[-3:] == ["bookworm", "/tar", "/list"]
    assert "--include=default-jdk-headless,gradle" in command


def test_the_recorded_packages_are_read_from_the_images_files(tmp_path):
    with tarfile.open(tmp_path / "i.tar", "w") as tar:
        entry = tarfile.TarInfo("./usr/share/kafka-patch-harness/packages")
        entry.size = 12
        tar.addfile(entry, io.BytesIO(b"a=1:2\nb=3-4\n"))
    assert packages_in(tmp_path / "i.tar") == ("a=1:2", "b=3-4")


def test_the_same_again_has_not_moved():
    assert moved(MADE, MADE) == []


def test_a_moved_mirror_is_reported_with_what_changed():
    now = ImageInputs(MADE.sources, ("gradle=4.4.1-19", "zlib=1"), "sha256:2")
    (sentence,) = moved(MADE, now)
    assert "3 packages differ" in sentence
    assert "gradle 4.4.1-18 → 4.4.1-19, libc6 2.36 → none, zlib none → 1" in sentence


def test_other_bytes_of_the_same_packages_are_reported_and_so_are_other_mirrors():
    (sentence,) = moved(MADE, ImageInputs(MADE.sources, MADE.packages, "sha256:2"))
    assert "the same packages as in the last image, and yet other bytes" in sentence
    (sentence,) = moved(MADE, ImageInputs(("https://b bookworm",), MADE.packages, MADE.content))
    assert sentence.startswith("other mirrors: https://mirror.example/debian bookworm before, https://b bookworm now")


@pytest.mark.parametrize("damaged", ["", "{", '{"sources": 3}'])
def test_a_damaged_memory_of_the_last_image_is_begun_anew(damaged, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    file = user_data_root() / "images" / "debian.json"
    file.parent.mkdir(parents=True)
    file.write_text(damaged)
    assert debian._remembered(MADE) == []
    assert debian._remembered(ImageInputs(("https://b bookworm",), MADE.packages, MADE.content)) != []


def test_the_first_errors_of_a_failure_are_reported():
    log = "I: running\nErr:1 https://mirror.example bookworm\nE: Unable to fetch\nI: removing\n"
    assert reason_in(log) == "Err:1 https://mirror.example bookworm; E: Unable to fetch"
    assert reason_in("") == "it said nothing"

"""An archive of classes is written by the second session of an installation, and never stands in a session's way."""

import pytest

from harness.logs.read.class_archive import classes

FLAGS = ("-XX:+UseSerialGC",)
JAVA = """#!/bin/sh
for word do case "$word" in -XX:SharedArchiveFile=*) echo base > "${word#*=}";; esac; done
"""


@pytest.fixture
def java(tmp_path):
    """Return a Java that writes whatever archive it is asked for."""
    program = tmp_path / "runtime" / "bin" / "java"
    (tmp_path / "runtime" / "lib").mkdir(parents=True)
    (tmp_path / "runtime" / "lib" / "modules").touch()
    program.parent.mkdir()
    program.write_text(JAVA)
    program.chmod(0o755)
    return program


@pytest.fixture
def session(java, tmp_path):
    """Return a session in which the JVM writes the archive that it is told to."""
    jar = tmp_path / "spark.jar"
    jar.write_text("classes")

    def run(ends_well=True):
        with classes(java, FLAGS, [jar], tmp_path / "cache") as found:
            if found.made:
                found.made.write_text("classes")
            if not ends_well:
                raise KeyboardInterrupt
        return found.options

    return run


def archives(tmp_path):
    return sorted(path.name.partition("-")[0] for path in (tmp_path / "cache").iterdir())


def test_the_first_session_writes_javas_own_the_second_sparks_and_the_third_uses_both(session, tmp_path):
    first = session()
    assert archives(tmp_path) == ["java"]
    second = session()
    assert archives(tmp_path) == ["java", "spark"]
    third = session()
    assert second[:-1] == first
    assert second[-1].startswith("-XX:ArchiveClassesAtExit=")
    assert third[0] == first[0]
    assert third[1].startswith(f"{first[1]}:")


def test_a_session_that_ends_badly_leaves_no_archive(session, tmp_path):
    session()
    with pytest.raises(KeyboardInterrupt):
        session(ends_well=False)
    assert archives(tmp_path) == ["java"]


def test_other_jars_have_another_archive(session, tmp_path):
    for _ in range(2):
        session()
    (tmp_path / "spark.jar").write_text("other classes")
    session()
    assert archives(tmp_path) == ["java", "spark", "spark"]


def test_a_java_that_writes_no_archive_does_without(session, java):
    java.write_text("#!/bin/sh\nexit 1\n")
    assert session() == ()


def test_a_cache_that_cannot_be_written_to_is_no_archive(session, tmp_path):
    (tmp_path / "cache").write_text("a file")
    assert session() == ()

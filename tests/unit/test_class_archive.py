"""Class archives: what is kept of the list of classes that a start loads."""

import os

from harness.building.jars import write_jar
from harness.cluster.jvm import archivable, archive_key
from harness.model.setup import Profile

LIST = """\
java/lang/Object id: 0
kafka/server/SharedServer id: 1
org/apache/kafka/image/loader/MetadataLoader$Builder id: 2
@lambda-proxy kafka/server/SharedServer get ()Ljava/util/function/Supplier; ()Ljava/lang/Object; REF_invokeStatic
@lambda-proxy org/apache/kafka/image/loader/MetadataLoader$Builder get ()Ljava/util/function/Supplier; REF_x
@lambda-form-invoker [SPECIES_RESOLVE] java.lang.invoke.BoundMethodHandle$Species_L
"""


def test_lambdas_of_nested_classes_are_left_out_and_nothing_else():
    kept = archivable(LIST).splitlines()
    assert [line for line in LIST.splitlines() if line not in kept] == [LIST.splitlines()[4]]
    assert kept == [line for line in LIST.splitlines() if line in kept]


def test_a_jar_of_equal_size_and_time_with_other_content_has_another_archive(tmp_path):
    java, jar = tmp_path / "java", tmp_path / "kafka-server.jar"
    java.touch()

    def key_with(content):
        write_jar({"A.class": content}, jar)
        os.utime(jar, ns=(0, 0))
        return archive_key(java, [jar], Profile.FAST), jar.stat().st_size

    (one, size), (other, same_size) = key_with(b"\0\1"), key_with(b"\1\0")
    assert size == same_size
    assert one != other == key_with(b"\1\0")[0]

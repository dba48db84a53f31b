"""Class archives: what is kept of the list of classes that a start loads."""

from harness.cluster.jvm import archivable

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

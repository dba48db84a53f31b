"""Kafka's own modules that no broker needs: Connect, Streams and tools, where operators' files and commands are."""

CONNECT_RUNTIME, CONNECT_API = "connect-runtime", "connect-api"
_OTHERS = ("connect-mirror", "connect-mirror-client", "connect-transforms", "connect-json", "connect-file")
MODULES_BESIDE = (CONNECT_RUNTIME, *_OTHERS, "kafka-streams", "kafka-shell", "kafka-tools")

"""Two small Kafkas as their operator meets them, with one of every kind of change between them."""

from harness.model.kafka_inventory import (
    REQUIRED,
    SCHEMA,
    Api,
    Boot,
    Command,
    CommandOption,
    ConfigOwner,
    DeclaredKey,
    Feature,
    KafkaInventory,
    Logged,
    Metric,
)

SERVER = "org.apache.kafka.server.config.AbstractKafkaConfig"
METER = {"Count": "Long", "MeanRate": "Double", "RateUnit": "unit:SECONDS"}
LEVELS = {7: "3.3-IV3", 21: "3.9-IV0", 29: "4.2-IV1"}


def key(name, kind="INT", default="1", validator="", **marks):
    return DeclaredKey(name, kind, default, validator, "MEDIUM", **marks)


def server(*keys):
    return (ConfigOwner(SERVER, keys),)


def metric(name, kind="gauge", attributes=None, **marks):
    return Metric(name, kind, attributes or {"Value": "Integer"}, **marks)


def logged(text, level="WARN", owner="ReplicaManager"):
    return Logged(f"kafka/server/{owner}.scala", owner, level, text)


BASE = KafkaInventory(
    SCHEMA,
    "3.9.2",
    "Kafka 3.9.2",
    "b" * 64,
    {"a node": 8, "clients": 8},
    "log4j 1 (reload4j)",
    {"zookeeper": "3.8.4", "jackson-core": "2.16.2"},
    server(key("zookeeper.connect", "STRING", "null"), key("num.io.threads", default="8"), key("process.roles")),
    (
        Command("kafka-topics.sh", "kafka.admin.TopicCommand", (CommandOption("--zookeeper"), CommandOption("--list"))),
        Command("zookeeper-shell.sh", "org.apache.zookeeper.ZooKeeperMain"),
    ),
    (
        logged("Fetching failed for partition {} of the topic {}", "ERROR"),
        logged("Stopping serving replicas in dir {}"),
    ),
    (metric("kafka.server:type=ReplicaManager,name=IsrShrinksPerSec", "meter", METER),),
    (Api("broker", 1, "Fetch", 0, 17), Api("broker", 4, "LeaderAndIsr", 0, 7)),
    (Feature("metadata.version", 1, 21, 21, LEVELS),),
    tuple(Boot(4.0 + spread, 3.0, 2.0, 60.0, 300.0, 90) for spread in (0.0, 0.1, 0.2)),
)

CANDIDATE = KafkaInventory(
    SCHEMA,
    "4.2.0",
    "Kafka 4.2.0",
    "c" * 64,
    {"a node": 17, "clients": 11},
    "log4j 2",
    {"jackson-core": "2.17.2", "log4j-core": "2.24.3"},
    server(key("num.io.threads", default="16"), key("process.roles", default=REQUIRED), key("share.locks")),
    (
        Command(
            "kafka-topics.sh",
            "org.apache.kafka.tools.TopicCommand",
            (CommandOption("--bootstrap-server", required=True), CommandOption("--list")),
        ),
    ),
    (
        logged("Fetching failed for partition {} and topic {}", "ERROR"),
        logged("Stopping serving replicas in dir {}", "INFO"),
    ),
    (metric("kafka.server:type=ReplicaManager,name=IsrShrinks", "meter", METER),),
    (Api("broker", 1, "Fetch", 4, 18), Api("broker", 78, "ShareFetch", 1, 1)),
    (Feature("metadata.version", 7, 29, 29, LEVELS), Feature("share.version", 0, 1, 0)),
    tuple(Boot(6.0 + spread, 3.0, 2.0, 60.0, 300.0, 90) for spread in (0.0, 0.1, 0.2)),
    gaps=("MirrorMaker is not compared: it could not be loaded.",),
)

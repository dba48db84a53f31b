"""Events as people's logs have them: written in layouts, as JSON objects, and behind what carries their lines."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True)
class Event:
    """What was logged: when (milliseconds after the first), at which level, by whom, and what was thrown."""

    after: int
    level: str
    message: str
    logger: str = "a.B"
    thrown: tuple[str, ...] = ()

    @property
    def at(self) -> datetime:
        return datetime(2026, 11, 21, 14, 28, 58, 949_000, tzinfo=UTC) + timedelta(milliseconds=self.after)


TRACE = ("java.io.IOException: gone", "\tat a.B.c(B.java:1)", "Caused by: java.net.ConnectException: refused")
THREAD = "kafka-0-raft-io-thread"
CONFIG = "KafkaConfig values: \n\tbroker.id = 0\n\tlog.dirs = null\n"
EVENTS = (
    Event(0, "INFO", "Registered kafka:type=kafka.Log4jController MBean", "kafka.utils.Log4jControllerRegistration$"),
    Event(9, "INFO", CONFIG, "kafka.server.KafkaConfig"),
    Event(60, "INFO", "[RaftManager id=1] Node 0 disconnected.", "org.apache.kafka.clients.NetworkClient"),
    Event(1_060, "WARN", '[Controller id=1] says "x" to {"a": 1}', "org.apache.kafka.controller.QuorumController"),
    Event(1_500, "ERROR", "it broke", "kafka.server.BrokerServer", TRACE),
    Event(90_000, "INFO", "Leader é 世界", "kafka.raft.KafkaRaftManager"),
)
_EVENT = re.compile(
    r"^\[([\d-]{10} [\d:,]{12})\] ([A-Z]+) "
    r"([^\n]*(?:\n(?!\[\d{4})[^\n]*)*?) \(([^\s()]+)\)$((?:\n(?!\[\d{4}|\Z)[^\n]*)*)",
    re.MULTILINE,
)
Line = Callable[[datetime, str], str]


def iso(at: datetime, day: str = "-", between: str = " ", fraction: str = ",") -> str:
    return f"{at:%Y{day}%m{day}%d}{between}{at:%H:%M:%S}{fraction}{at.microsecond // 1000:03}"


def nanoseconds(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond:06}123Z"


# Layouts that log4j, log4j 2, logback and JBoss write, each by who has it so.
LAYOUTS: dict[str, Callable[[Event], str]] = {
    "Kafka": lambda e: f"[{iso(e.at)}] {e.level} {e.message} ({e.logger})",
    "Kafka with an ISO date": lambda e: f"[{iso(e.at, between='T')}] {e.level} {e.message} ({e.logger})",
    "Kafka Connect": lambda e: f"[{iso(e.at)}] {e.level} {e.message} ({e.logger}:123)",
    "Connect with threads": lambda e: f"[{iso(e.at)}] {e.level} [{THREAD}] {e.message} ({e.logger}:123)",
    "Strimzi": lambda e: f"{iso(e.at)} {e.level} {e.message} ({e.logger}) [{THREAD}]",
    "threads before": lambda e: f"{iso(e.at)} {e.level} [{THREAD}] {e.message} ({e.logger})",
    "log4j 2": lambda e: f"{iso(e.at)} [{THREAD}] {e.level:<5} {e.logger} - {e.message}",
    "logback": lambda e: f"{iso(e.at, fraction='.')} [{THREAD}] {e.level:<5} {e.logger} - {e.message}",
    "lines of code": lambda e: f"{iso(e.at)} {e.level:<5} {e.logger}:45 [{THREAD}] {e.message}",
    "Spring Boot 3": lambda e: (
        f"{iso(e.at, '-', 'T', '.')}Z {e.level:>5} 47 --- [{THREAD}] {e.logger:<40} : {e.message}"
    ),
    "Spring Boot 2": lambda e: f"{iso(e.at, fraction='.')} {e.level:>5} 47 --- [{THREAD}] {e.logger:<40} : {e.message}",
    "an offset": lambda e: f"{iso(e.at, '-', 'T', '.')}+0000 {e.level} [{e.logger}] {e.message}",
    "slashes": lambda e: f"{iso(e.at, '/', fraction='.')} {e.level} [{THREAD}] {e.logger} - {e.message}",
    "Quarkus": lambda e: f"{iso(e.at)} {e.level:<5} [{e.logger}] ({THREAD}) {e.message}",
    "the level first": lambda e: f"{e.level:<5} [{iso(e.at)}] [{THREAD}] {e.logger}: {e.message}",
    "brackets": lambda e: f"[{iso(e.at)}] [{e.level}] [{THREAD}] [{e.logger}] {e.message}",
    "pipes": lambda e: f"{iso(e.at)} | {e.level:<5} | {THREAD} | {e.logger} | {e.message}",
    "Elasticsearch": lambda e: f"[{iso(e.at, between='T')}][{e.level:<5}][{e.logger}] [node-1] {e.message}",
    "ZooKeeper": lambda e: f"{iso(e.at)} [myid:1] - {e.level:<5} [{THREAD}:{e.logger}@123] - {e.message}",
    "angle brackets": lambda e: f"<{iso(e.at)}> <{e.level}> <{e.logger}> {e.message}",
    "one of nobody's": lambda e: f"{e.level}; {iso(e.at, fraction='.')}; {e.logger}; {e.message}",
}


def _thrown(event: Event, name: str, text: str, trace: str) -> dict[str, str]:
    kind, _, message = event.thrown[0].partition(": ")
    return {name: kind, text: message, trace: "\n".join(event.thrown) + "\n"}


def _ecs(e: Event) -> dict[str, object]:
    thrown = _thrown(e, "error.type", "error.message", "error.stack_trace") if e.thrown else {}
    stamp = {"@timestamp": iso(e.at, "-", "T", ".") + "Z", "ecs.version": "1.2.0"}
    return {**stamp, "log.level": e.level, "message": e.message, "log.logger": e.logger, **thrown}


def _logstash(e: Event) -> dict[str, object]:
    thrown = _thrown(e, "exception_class", "exception_message", "stacktrace") if e.thrown else {}
    event = {"@version": 1, "@timestamp": iso(e.at, "-", "T", ".") + "Z", "level": e.level, "message": e.message}
    return {**event, "logger_name": e.logger, "thread_name": THREAD, **({"exception": thrown} if thrown else {})}


def _log4j2(e: Event) -> dict[str, object]:
    instant = {"epochSecond": int(e.at.timestamp()), "nanoOfSecond": e.at.microsecond * 1000}
    event = {"instant": instant, "thread": THREAD, "level": e.level, "loggerName": e.logger, "message": e.message}
    thrown = {"thrown": {"extendedStackTrace": "\n".join(e.thrown)}} if e.thrown else {}
    return {**event, **thrown, "endOfBatch": False, "threadId": 1, "threadPriority": 5}


def _gelf(e: Event) -> dict[str, object]:
    numbers = {"DEBUG": 7, "INFO": 6, "WARN": 4, "ERROR": 3}
    event = {"version": "1.1", "host": "h", "short_message": e.message, "timestamp": e.at.timestamp()}
    thrown = {"full_message": "\n".join(e.thrown)} if e.thrown else {}
    return {**event, "level": numbers[e.level], "_logger": e.logger, "_thread": THREAD, **thrown}


def _google(e: Event) -> dict[str, object]:
    event = {"timestamp": iso(e.at, "-", "T", ".") + "Z", "severity": e.level.replace("WARN", "WARNING")}
    thrown = {"_exception": _thrown(e, "class", "message", "stackTrace")} if e.thrown else {}
    return {**event, "message": e.message, "_thread": THREAD, "_logger": e.logger, **thrown}


# Objects as log4j 2's JsonTemplateLayout (ECS is its default), JsonLayout and logback's encoders write them.
OBJECTS = {"ECS": _ecs, "logstash": _logstash, "JsonLayout": _log4j2, "GELF": _gelf, "Google": _google}


def _journal(at: datetime, line: str) -> str:
    return json.dumps({"__REALTIME_TIMESTAMP": str(int(at.timestamp() * 1e6)), "PRIORITY": "6", "MESSAGE": line})


def _journal_of_bytes(at: datetime, line: str) -> str:
    return json.dumps({"_PID": "4711", "MESSAGE": list(f"\x1b[32m{line}\x1b[0m".encode())})


def _counted(line: str) -> str:
    return f"{len(line.encode())} {line}"


# What stands around every line, by who puts it there, and the name that carriers have for it.
AROUND: dict[str, tuple[str, Line]] = {
    "kubectl --timestamps": ("kubectl", lambda at, line: f"{nanoseconds(at)} {line}"),
    "kubectl --prefix": ("kubectl", lambda _, line: f"[pod/kafka-0/kafka] {line}"),
    "kubectl --prefix --timestamps": ("kubectl", lambda at, line: f"[pod/kafka-0/kafka] {nanoseconds(at)} {line}"),
    "the kubelet": ("kubelet", lambda at, line: f"{nanoseconds(at)} stdout F {line}"),
    "journalctl": ("journald", lambda at, line: f"{at:%b %d %H:%M:%S} host-1 kafka[4711]: {line}"),
    "journalctl -o short-precise": ("journald", lambda at, line: f"{at:%b %d %H:%M:%S.%f} host-1 kafka[4711]: {line}"),
    "journalctl -o short-iso": ("journald", lambda at, line: f"{at:%Y-%m-%dT%H:%M:%S}+0000 h kafka-run[4711]: {line}"),
    "journalctl -o short-iso-precise": (
        "journald",
        lambda at, line: f"{at:%Y-%m-%dT%H:%M:%S.%f}+00:00 h kafka[47]: {line}",
    ),
    "journalctl -o with-unit": (
        "journald",
        lambda at, line: f"{at:%a %Y-%m-%d %H:%M:%S} UTC host kafka.service[4711]: {line}",
    ),
    "journalctl -o short-unix": ("journald", lambda at, line: f"{at.timestamp():.6f} host kafka[4711]: {line}"),
    "journalctl -o short-monotonic": ("journald", lambda _, line: f"[ 4711.123456] host kafka[4711]: {line}"),
    "journalctl --no-hostname": ("journald", lambda at, line: f"{at:%b %d %H:%M:%S} kafka[4711]: {line}"),
    "journalctl -o json": ("journal", _journal),
    "journalctl -o json, in colours": ("journal", _journal_of_bytes),
    "journalctl -o json-sse": ("sse | journal", lambda at, line: f"data: {_journal(at, line)}"),
    "syslog, RFC 3164": ("journald", lambda at, line: f"<14>{at:%b %d %H:%M:%S} host kafka[4711]: {line}"),
    "syslog, as rsyslog writes files": (
        "journald",
        lambda at, line: f"{at:%b %d %H:%M:%S} host kafka: " + line.replace("\t", "#011"),
    ),
    "syslog, RFC 5424": ("syslog", lambda at, line: f"<14>1 {nanoseconds(at)} host kafka 4711 - - {line}"),
    "syslog, RFC 5424 with data": (
        "syslog",
        lambda at, line: rf'<14>1 {nanoseconds(at)} host kafka 4711 ID47 [x@1 a="b\]c"][y@2 d="e"] ' + f"\ufeff{line}",
    ),
    "syslog over TCP": (
        "syslog",
        lambda at, line: _counted(f"<14>1 {nanoseconds(at)} host kafka 4711 - - {line}"),
    ),
    "docker's json-file": ("docker", lambda at, line: json.dumps({"log": f"{line}\n", "time": nanoseconds(at)})),
    "Fluent Bit": ("docker", lambda _, line: json.dumps({"stream": "stdout", "log": line, "kubernetes": {"pod": "k"}})),
    "docker compose logs": ("compose", lambda _, line: f"kafka-0    | {line}"),
    "docker compose logs, in colours": ("compose", lambda _, line: f"\x1b[36mkafka-0  | \x1b[0m{line}"),
    "docker compose logs --timestamps": (
        "compose | kubectl",
        lambda at, line: f"kafka-0-1  | {nanoseconds(at)} {line}",
    ),
    "Filebeat": (
        "beats",
        lambda at, line: json.dumps({"@timestamp": nanoseconds(at), "message": line, "log": {"offset": 1}}),
    ),
    "CloudWatch's events": (
        "beats",
        lambda at, line: json.dumps({"timestamp": int(at.timestamp() * 1000), "message": line}),
    ),
    "logcli -o jsonl": ("loki", lambda at, line: json.dumps({"line": line, "timestamp": nanoseconds(at)})),
    "gcloud logging read": ("gcloud", lambda at, line: json.dumps({"textPayload": line, "timestamp": nanoseconds(at)})),
}
# What no table has.
AROUND_UNKNOWN: dict[str, Line] = {
    "stern": lambda _, line: f"kafka-0 kafka {line}",
    "stern --timestamps": lambda at, line: f"kafka-0 kafka {nanoseconds(at)} {line}",
    "kubetail": lambda _, line: f"[kafka-0] {line}",
    "logcli": lambda at, line: f'{nanoseconds(at)} {{app="kafka", pod="kafka-0"}} {line}',
    "aws logs tail": lambda at, line: f"{at:%Y-%m-%dT%H:%M:%S.%f}+00:00 kafka/broker-0 {line}",
    "ts": lambda at, line: f"{at:%b %d %H:%M:%S} {line}",
    "multilog": lambda at, line: f"@{int(at.timestamp()):016x}{at.microsecond:08x} {line}",
    "s6-log": lambda at, line: f"{at:%Y-%m-%d %H:%M:%S.%f}789  {line}",
    "grep -H": lambda _, line: f"logs/server.log:{line}",
    "pm2": lambda _, line: f"0|kafka    | {line}",
}


def written(event: Event, layout: str = "Kafka") -> list[str]:
    """Return the lines of an event in a layout."""
    return [*LAYOUTS[layout](event).split("\n"), *event.thrown]


def plain(events: Sequence[Event]) -> list[str]:
    """Return the lines of events as Kafka writes them."""
    return [line for event in events for line in written(event)]


def of_kafka(log: str) -> list[Event]:
    """Return the events of a real log that Kafka wrote."""
    found = []
    for stamp, level, message, logger, rest in _EVENT.findall(log):
        after = datetime.strptime(f"{stamp}+0000", "%Y-%m-%d %H:%M:%S,%f%z") - EVENTS[0].at
        thrown = tuple(rest[1:].split("\n")) if rest else ()
        found.append(Event(round(after / timedelta(milliseconds=1)), level, message, logger, thrown))
    return found


def around(events: Sequence[Event], put: Line, layout: str = "Kafka") -> list[str]:
    """Return the lines of events with something around each."""
    return [put(event.at, line) for event in events for line in written(event, layout)]


def objects(events: Sequence[Event], form: str) -> list[str]:
    """Return events as JSON objects, one a line."""
    return [json.dumps(OBJECTS[form](event)) for event in events]

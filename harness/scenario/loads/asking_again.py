"""Asking brokers until what they say is complete: a single answer that does not come spoils nothing."""

from __future__ import annotations

from collections.abc import Callable

from confluent_kafka import KafkaError, KafkaException

from harness.base.waiting import wait_until

_EVERY_SECONDS = 0.5
_IS_GONE = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC)


def ask_again(look: Callable[[], bool], seconds: float) -> None:
    """Look until `look` is true or the time is over; a look that raises KafkaException was in vain.

    Raises the KafkaException of the last look, unless it says that a topic is not there: then that is the answer.
    """
    failed: list[KafkaException] = []

    def is_over() -> bool:
        failed.clear()
        try:
            return look()
        except KafkaException as error:
            failed.append(error)
            return False

    wait_until(is_over, seconds, every=_EVERY_SECONDS)
    if failed and failed[0].args[0].code() not in _IS_GONE:
        raise failed[0]

"""Requests by librdkafka's admin client, which may close the very connection by which it asked."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from confluent_kafka import KafkaError, KafkaException

_T = TypeVar("_T")
_TRIES = 3


def answer_of(ask: Callable[[], Future[_T]]) -> _T:
    """Ask, and ask again where the library closed its connection before the answer came.

    Since 2.10 it closes those to bootstrap servers once it knows the brokers (librdkafka's pull request 4557), and what
    waits there fails with `_DESTROY_BROKER`, whether a broker has done it or not. So `ask` must be something that can
    be said twice. Raises KafkaException.
    """
    for _ in range(_TRIES - 1):
        try:
            return ask().result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError._DESTROY_BROKER:
                raise
    return ask().result()

"""What librdkafka's admin client is asked is asked again where it closed the connection itself, and only then."""

from concurrent.futures import Future

import pytest
from confluent_kafka import KafkaError, KafkaException

from harness.cluster.admin_requests import answer_of

CLOSED, REFUSED = KafkaError._DESTROY_BROKER, KafkaError.CLUSTER_AUTHORIZATION_FAILED


def answers(*what):
    """Return a request that has these answers in turn, error codes or values, and what of them is left."""
    left = list(what)

    def ask():
        future, answer = Future(), left.pop(0)
        if isinstance(answer, int):
            future.set_exception(KafkaException(KafkaError(answer)))
        else:
            future.set_result(answer)
        return future

    return ask, left


def test_a_connection_that_the_library_closed_is_no_answer():
    ask, left = answers(CLOSED, CLOSED, "done")
    assert (answer_of(ask), left) == ("done", [])


def test_it_is_not_asked_without_end():
    ask, left = answers(CLOSED, CLOSED, CLOSED, "too late")
    with pytest.raises(KafkaException):
        answer_of(ask)
    assert left == ["too late"]


def test_what_a_broker_refuses_is_not_asked_again():
    ask, left = answers(REFUSED, "not asked")
    with pytest.raises(KafkaException):
        answer_of(ask)
    assert left == ["not asked"]

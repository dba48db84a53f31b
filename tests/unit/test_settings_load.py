"""A client that changes settings without a pause knows what was acknowledged, and misses what does not stand."""

from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException

from harness.scenario.loads import settings
from harness.scenario.loads.settings import SettingsClient


class Admin:
    """Takes every change at once but those of `refuses`, and forgets those of `forgets`."""

    def __init__(self, refuses=(), forgets=()):
        self.values, self.refuses, self.forgets, self.calls = {}, refuses, forgets, 0

    def __call__(self, _settings):
        return self

    def incremental_alter_configs(self, resources, request_timeout):
        (resource,) = resources
        (entry,) = resource.incremental_configs
        answer = Future()
        self.calls += 1
        if resource.name in self.refuses:
            answer.set_exception(KafkaException(KafkaError(KafkaError.POLICY_VIOLATION)))
        else:
            self.values.setdefault(resource.name, entry.value)
            if resource.name not in self.forgets:
                self.values[resource.name] = entry.value
            answer.set_result(None)
        return {resource: answer}

    def describe_configs(self, resources, request_timeout):
        answers = {}
        for resource in resources:
            answers[resource] = Future()
            answers[resource].set_result({"retention.ms": SimpleNamespace(value=self.values[resource.name])})
        return answers


@pytest.fixture
def worked(monkeypatch):
    """Have a client work until so many changes were asked for, and compare."""

    def run(admin, changes=20):
        monkeypatch.setattr(settings, "AdminClient", admin)
        monkeypatch.setattr(settings, "_KNOWN_SECONDS", 0.0)
        client = SettingsClient("busy", ["busy-0", "busy-1"], [])
        monkeypatch.setattr(client, "stopping", SimpleNamespace(wait=lambda _seconds: admin.calls >= changes))
        client.work()
        return client.compare([])

    return run


def test_the_newest_acknowledged_setting_of_each_topic_stands(worked):
    report = worked(Admin())
    assert (report.lost, report.failures) == (0, {})
    assert report.acknowledged in range(16, 20)  # the last change of each is still under way


def test_an_older_setting_than_the_newest_acknowledged_one_is_a_loss(worked):
    assert worked(Admin(forgets=["busy-1"])).lost == 1


def test_what_was_refused_is_a_failure_and_promises_nothing(worked):
    report = worked(Admin(refuses=["busy-1"]))
    assert (report.lost, set(report.failures)) == (0, {"POLICY_VIOLATION"})

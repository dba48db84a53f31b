"""What a class makes of the keys that it declares: what its getters return, what its keys' validators refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Setting:
    """A key and the value that it is given, as text."""

    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}"


@dataclass(frozen=True, slots=True)
class Reading:
    """What one setting makes of an instance: getters that return something else than with the defaults alone.

    `failed` is the exception by which there is no instance with it.
    """

    changed: Mapping[str, str] = field(default_factory=dict)
    failed: str = ""


@dataclass(frozen=True, slots=True)
class ConfigUse:
    """What a class makes of its keys.

    `getters` are what an instance from the defaults returns, `reads` what another value of one key changes in that,
    `refused` the exception by which a key's validator refuses a value, empty where it accepts it. `failed` is why
    there is no instance from the defaults; a class that is not made from a configuration has neither.
    """

    getters: Mapping[str, str] = field(default_factory=dict)
    reads: Mapping[Setting, Reading] = field(default_factory=dict)
    refused: Mapping[Setting, str] = field(default_factory=dict)
    failed: str = ""


def parse_use(said: Mapping[str, Any]) -> ConfigUse:
    """Return what the probe's line about a class says."""
    return ConfigUse(
        said["getters"],
        {_setting(each): Reading(each["changed"], each["failed"]) for each in said["reads"]},
        {_setting(each): each["refused"] for each in said["answers"]},
        said["failed"],
    )


def _setting(said: Mapping[str, Any]) -> Setting:
    return Setting(said["key"], said["value"])

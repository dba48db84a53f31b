"""Making known the user as which the brokers of a secured cluster speak to each other."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # it does not say that it exports them
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from harness.cluster.admin_requests import answer_of
from harness.cluster.security import USER
from harness.scenario.loads.readback import client_settings
from harness.scenario.verbs import action
from harness.scenario.world import ActionFailed, World

_ANSWER_SECONDS = 15.0
_ITERATIONS = 4096
_MECHANISMS = {"SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256, "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512}


@dataclass(frozen=True, slots=True)
class CreateUser:
    """Store the SCRAM credentials of the nodes' user in the metadata (AlterUserScramCredentials)."""

    description: str = "store the SCRAM credentials by which brokers fetch from each other"

    def perform(self, world: World) -> None:
        """Ask a broker. Raises ActionFailed."""
        secrets, security = world.cluster.secrets, world.cluster.topology.security
        if secrets is None or security is None or not security.has_credentials_in_log:
            raise ActionFailed("no user of this cluster is known by SCRAM credentials")
        admin = AdminClient(client_settings(list(world.cluster.brokers.values())))
        mechanism = ScramCredentialInfo(_MECHANISMS[security.mechanism], _ITERATIONS)
        change = UserScramCredentialUpsertion(USER, mechanism, secrets.password.encode())

        def asked() -> Future[None]:
            return admin.alter_user_scram_credentials([change], request_timeout=_ANSWER_SECONDS)[USER]

        try:
            answer_of(asked)
        except KafkaException as error:
            raise ActionFailed(f"the credentials were not stored: {error}") from error


@action
def create_user() -> CreateUser:
    """Store the SCRAM credentials of the brokers of a secured cluster: before its first topic."""
    return CreateUser()

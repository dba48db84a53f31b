"""The only connection to ZooKeeper that writes: that of a repair's part there, and of its undoing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness.base.errors import HarnessError
from harness.topicids.zookeeper import ANSWER_SECONDS, ZooKeeper, session
from harness.topicids.zookeeper_refusals import Refusal
from harness.topicids.zookeeper_security import REMEDY, ZooKeeperSecurity

if TYPE_CHECKING:
    from kazoo.client import KazooClient

_AGAIN = "Make the plan again: harness topic-ids plan"


class WritableZooKeeper(ZooKeeper):
    """A connection that reads, and sets and deletes nodes too."""

    def __init__(self, client: KazooClient, connect: str, why: Callable[[Exception], Refusal] | None = None) -> None:
        super().__init__(client, connect, why)
        self._set, self._delete = client.set_async, client.delete_async

    def set(self, path: str, data: bytes, version: int) -> None:
        """Write a node that is still of this version. Raises HarnessError where it was not written, or maybe was."""
        from kazoo.exceptions import BadVersionError, NoNodeError

        with self._writing(path, "written"):
            try:
                self._set(path, data, version=version).get(timeout=ANSWER_SECONDS)
            except (BadVersionError, NoNodeError) as error:
                raise HarnessError(f"{path} changes in ZooKeeper at this moment, and was left.", _AGAIN) from error

    def delete(self, path: str) -> None:
        """Delete a node; one that is gone already is left so. Raises HarnessError where it was not, or maybe was."""
        from kazoo.exceptions import NoNodeError

        with self._writing(path, "deleted"):
            try:
                self._delete(path).get(timeout=ANSWER_SECONDS)
            except NoNodeError:
                return

    @contextmanager
    def _writing(self, path: str, done: str) -> Iterator[None]:
        """Make a sentence of what goes wrong: without an answer nobody knows whether the request was carried out."""
        from kazoo.exceptions import KazooException, NoAuthError
        from kazoo.handlers.threading import KazooTimeoutError

        try:
            yield
        except NoAuthError as error:
            raise HarnessError(f"{self.name} does not let {path} be {done}.", REMEDY) from error
        except (KazooException, KazooTimeoutError) as error:
            why = self._why(error).why
            raise HarnessError(
                f"{self.name} did not answer: {why}. Whether {path} was {done} is not known.",
                "Give the same command again: it sees what is so, and goes on.",
            ) from error


@contextmanager
def connected_to_write(connect: str, security: ZooKeeperSecurity) -> Iterator[WritableZooKeeper]:
    """Yield a connection that may write, to a server that has caught up. Raises HarnessError where there is none."""
    with session(connect, security, current=True) as (client, why):
        zookeeper = WritableZooKeeper(client, connect, why)
        zookeeper.catch_up()
        yield zookeeper

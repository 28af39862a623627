"""The client of one stack."""

from collections.abc import Iterator, Mapping
from typing import Any, Self, cast

from sweephand_client.api.access import Keys, Secrets, Signing
from sweephand_client.api.answers import Health, Me, Occurrences
from sweephand_client.api.jobs import Jobs
from sweephand_client.api.namespaces import Namespaces, Policies
from sweephand_client.api.repairs import Audited, Rebuilt
from sweephand_client.api.runs import Runs
from sweephand_client.http.authorization import Authorization, Bearer
from sweephand_client.http.repetition import Repetition
from sweephand_client.http.transport import Transport


class Client:
    """Calls one stack. Threads may share it. Leaving its context closes its connections.

    `url` is the stack's ApiUrl. `authorization` is a key or token as text, a Bearer or an IamSignature;
    without it only the open calls work.
    """

    def __init__(
        self,
        url: str,
        authorization: Authorization | str | None = None,
        *,
        repetition: Repetition = Repetition(),  # noqa: B008 - it does not change
        transport: Transport | None = None,
    ) -> None:
        proof = Bearer(authorization) if isinstance(authorization, str) else authorization
        self._transport = transport or Transport(url, proof, repetition=repetition)
        self.jobs = Jobs(self._transport)
        self.runs = Runs(self._transport)
        self.namespaces = Namespaces(self._transport)
        self.policies = Policies(self._transport)
        self.keys = Keys(self._transport)
        self.secrets = Secrets(self._transport)
        self.signing = Signing(self._transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """The address of the stack."""
        return self._transport.url

    def close(self) -> None:
        """Close the connections. The next call opens one."""
        self._transport.close()

    def preview(self, schedule: Mapping[str, Any]) -> Occurrences:
        """The due times of a schedule that is not stored. It takes the fields of a job that say when."""
        return cast("Occurrences", self._transport.call("previewOccurrences", body=schedule).body)

    def me(self) -> Me:
        """What the key or token of the caller allows."""
        return cast("Me", self._transport.call("showMe").body)

    def health(self) -> Health:
        """The age of the stack's heartbeat. StackFailedError if it is too old."""
        return cast("Health", self._transport.call("showHealth").body)

    def rebuild(
        self, since: str, *, namespace: str | None = None, cursor: str | None = None
    ) -> Iterator[Rebuilt]:
        """Arm every job again that the key opens, or those of one namespace, after timers were lost.

        `since` is RFC 3339: an instant at which the stack still delivered. Each answer is about up to a
        thousand jobs. After an error, go on with the `nextCursor` of the last answer.
        """
        for part in self._walk("rebuild", {"since": since}, namespace, cursor):
            yield cast("Rebuilt", part)

    def audit(
        self, *, namespace: str | None = None, dry_run: bool = False, cursor: str | None = None
    ) -> Iterator[Audited]:
        """Examine every job that the key opens, or those of one namespace, and mend what was lost.

        With `dry_run`, the stack only reports. Each answer is about up to a thousand jobs. After an error, go
        on with the `nextCursor` of the last answer.
        """
        for part in self._walk("audit", {"dryRun": dry_run}, namespace, cursor):
            yield cast("Audited", part)

    def _walk(
        self, operation: str, body: Mapping[str, object], namespace: str | None, cursor: str | None
    ) -> Iterator[Any]:
        """The answers of an operation that goes through all jobs, from `cursor` on."""
        given = {**body, **({} if namespace is None else {"namespace": namespace})}
        while True:
            part = self._transport.call(
                operation, body=given if cursor is None else {**given, "cursor": cursor}
            ).body
            yield part
            cursor = part.get("nextCursor")
            if cursor is None:
                return

    def limits(self) -> dict[str, int]:
        """Every limit of the stack by its name."""
        return cast("dict[str, int]", self._transport.call("showLimits").body)

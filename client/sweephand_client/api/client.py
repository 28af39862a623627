"""The client of one stack."""

from collections.abc import Iterator
from typing import Any, Self

from sweephand_client.api.access import Keys, Secrets, Signing
from sweephand_client.api.calendars import Calendars
from sweephand_client.api.calls import Calls
from sweephand_client.api.jobs import Jobs
from sweephand_client.api.namespaces import Namespaces, Policies, Windows
from sweephand_client.api.runs import Runs
from sweephand_client.http.authorization import Authorization, Bearer
from sweephand_client.http.operation import Repetition
from sweephand_client.http.transport import Transport
from sweephand_client.openapi import operations
from sweephand_client.openapi.job_answers import OccurrencesResponse
from sweephand_client.openapi.requests import AuditRequest, PreviewRequest, RebuildRequest
from sweephand_client.openapi.stack_answers import AuditResponse, HealthResponse, MeResponse, RebuildResponse


class Client(Calls):
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
        super().__init__(transport or Transport(url, proof, repetition=repetition))
        self.jobs = Jobs(self._transport)
        self.runs = Runs(self._transport)
        self.namespaces = Namespaces(self._transport)
        self.calendars = Calendars(self._transport)
        self.policies = Policies(self._transport)
        self.windows = Windows(self._transport)
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

    def preview(self, schedule: PreviewRequest) -> OccurrencesResponse:
        """The due times of a schedule that is not stored. It takes the fields of a job that say when."""
        return self._transport.call(operations.PREVIEW_OCCURRENCES, body=schedule)

    def me(self) -> MeResponse:
        """What the key or token of the caller allows."""
        return self._transport.call(operations.SHOW_ME)

    def health(self) -> HealthResponse:
        """The age of the stack's heartbeat. StackFailedError if it is too old."""
        return self._transport.call(operations.SHOW_HEALTH)

    def limits(self) -> dict[str, int]:
        """Every limit of the stack by its name."""
        return self._transport.call(operations.SHOW_LIMITS)

    def description(self) -> dict[str, Any]:
        """The OpenAPI document of the stack."""
        return self._transport.call(operations.SHOW_DESCRIPTION)

    def rebuild(
        self, since: str, *, namespace: str | None = None, cursor: str | None = None
    ) -> Iterator[RebuildResponse]:
        """Arm every job again that the key opens, or those of one namespace, after timers were lost.

        `since` is RFC 3339: an instant at which the stack still delivered. Each answer is about up to a
        thousand jobs. After an error, go on with the `nextCursor` of the last answer.
        """
        body: RebuildRequest = {"since": since, "namespace": namespace, "cursor": cursor}
        return self._parts(operations.REBUILD, body=body)

    def audit(
        self, *, namespace: str | None = None, dry_run: bool = False, cursor: str | None = None
    ) -> Iterator[AuditResponse]:
        """Examine every job that the key opens, or those of one namespace, and mend what was lost.

        With `dry_run`, the stack only reports. Each answer is about up to a thousand jobs. After an error, go
        on with the `nextCursor` of the last answer.
        """
        body: AuditRequest = {"dryRun": dry_run, "namespace": namespace, "cursor": cursor}
        return self._parts(operations.AUDIT, body=body)

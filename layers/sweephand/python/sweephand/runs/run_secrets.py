"""The secrets that a consumer was sent, hidden in what the consumer says in its callbacks."""

from typing import TYPE_CHECKING, Final

from sweephand.access.run_token import without_run_tokens
from sweephand.base.limits import RESULT_BYTES_MAX
from sweephand.model.job import Job
from sweephand.model.run import Run
from sweephand.runs.attempt import DefaultTarget, Signing
from sweephand.targets.http_headers import secret_headers
from sweephand.targets.registry import secret_refs, stands_for_default

if TYPE_CHECKING:
    # Most callbacks have neither a result nor a reason.
    from sweephand.access.repeated_secrets import RepeatedSecrets
    from sweephand.model.secret import ReadValues

_HIDDEN_RESULT: Final = '"[secret]"'


class RunSecrets:
    """Hides the secrets of a job's target, as they are now, and run tokens. Threads may share an object.

    StoreError if the secrets cannot be read.
    """

    def __init__(self, *, signing: Signing, read: "ReadValues", default_target: DefaultTarget) -> None:
        self._signing = signing
        self._read = read
        self._default_target = default_target

    def hidden_in_json(self, text: str, run: Run, job: Job | None) -> str:
        """A result as a run may keep it: a JSON text of at most RESULT_BYTES_MAX.

        `[secret]` can be longer than the secret. A result that grows beyond the limit is hidden as a whole.
        """
        shown = without_run_tokens(self._known(run, job).hidden_in_json(text))
        return shown if len(shown.encode()) <= RESULT_BYTES_MAX else _HIDDEN_RESULT

    def hidden_in(self, text: str, run: Run, job: Job | None) -> str:
        """Any other text as a run may keep it."""
        return without_run_tokens(self._known(run, job).hidden_in(text))

    def _known(self, run: Run, job: Job | None) -> "RepeatedSecrets":
        from sweephand.access.repeated_secrets import RepeatedSecrets  # noqa: PLC0415 - as above

        namespace = run.key.namespace
        known = [*self._signing.active(namespace), *([run.token] if run.token else [])]
        spec = None if job is None else job.definition.target
        if spec is not None and stands_for_default(spec):
            spec = self._default_target(namespace, spec)
        if spec is not None:
            known += secret_headers(spec.get("headers"))
            names = {each.name for each in secret_refs(spec)}
            read = self._read(namespace, names) if names else {}
            known += (value for values in read.values() for value in values)
        return RepeatedSecrets(known)

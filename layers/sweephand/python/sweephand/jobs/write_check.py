"""The one check of a job that is written, by PUT, PATCH or in bulk: what only its namespace can tell."""

from collections.abc import Callable, Collection, Mapping
from threading import Lock
from typing import Any, TypeAlias

from sweephand.base.errors import InvalidError, Violation
from sweephand.jobs.calendars import CalendarCheck
from sweephand.jobs.policy_check import PolicyCheck
from sweephand.jobs.quotas import Quotas
from sweephand.jobs.settings_cache import JobDefaults
from sweephand.model.definition import TARGET_FIELDS, Definition
from sweephand.model.job import Job
from sweephand.model.secret import Secret
from sweephand.targets.registry import secret_refs
from sweephand.targets.target_type import SecretRef

#: Those secrets of a namespace that exist, by name.
ReadSecrets: TypeAlias = Callable[[str, Collection[str]], Mapping[str, Secret]]


class SecretCheck:
    """Refuses the write of a job that names a secret which does not exist.

    A secret can be deleted while jobs name it, and then their runs fail. So only the write of a job is
    refused: it would most likely have a misspelled name.
    """

    def __init__(self, read: ReadSecrets) -> None:
        self._read = read

    def once(self) -> "SecretCheck":
        """A check for one call: it reads each secret once, from whichever threads it is asked."""
        lock, known = Lock(), dict[tuple[str, str], Secret | None]()

        def read(namespace: str, names: Collection[str]) -> Mapping[str, Secret]:
            with lock:
                unknown = [name for name in names if (namespace, name) not in known]
                found = self._read(namespace, unknown) if unknown else {}
                known.update({(namespace, name): found.get(name) for name in unknown})
                return {name: secret for name in names if (secret := known[namespace, name]) is not None}

        return SecretCheck(read)

    def check(self, namespace: str, refs: Collection[SecretRef]) -> None:
        """Raise InvalidError if one of the secrets that are named cannot be used there."""
        if not refs:
            return
        found = self._read(namespace, {each.name for each in refs})
        violations = [
            Violation(each.pointer, problem)
            for each in refs
            if (problem := _problem(namespace, each, found.get(each.name))) is not None
        ]
        if violations:
            raise InvalidError(violations)


def _refs_of(definition: Definition) -> list[SecretRef]:
    """The secrets that the targets of a job name, with JSON pointers in the job."""
    targets = ((f"/{name}", definition.written.get(name)) for name in TARGET_FIELDS)
    return [each for at, spec in targets if spec is not None for each in refs_at(at, spec)]


def refs_at(at: str, spec: Mapping[str, Any]) -> list[SecretRef]:
    """The secrets that a target names. `at` is its JSON pointer."""
    return [each._replace(pointer=at + each.pointer) for each in secret_refs(spec)]


def _problem(namespace: str, ref: SecretRef, secret: Secret | None) -> str | None:
    if secret is None:
        return f"There is no secret {ref.name} in namespace {namespace}. Create the secret first."
    if ref.must_sign and secret.brief.scheme is None:
        return (
            f"The secret {ref.name} cannot sign: its value must be an HMAC secret (whsec_ and the base64 of "
            "24 to 64 bytes) or an ed25519 private key (whsk_ and the base64 of 64 bytes)."
        )
    return None


class WriteCheck:
    """Judges the definition of a job by the policies, settings, secrets and limits of its namespace."""

    def __init__(
        self,
        *,
        policies: PolicyCheck,
        calendars: CalendarCheck,
        defaults: JobDefaults,
        secrets: SecretCheck,
        quotas: Quotas,
    ) -> None:
        self._policies = policies
        self._calendars = calendars
        self._defaults = defaults
        self._secrets = secrets
        self._quotas = quotas

    def once(self) -> "WriteCheck":
        """A check for one call that writes several jobs: it reads each thing that they name once."""
        return WriteCheck(
            policies=self._policies.once(),
            calendars=self._calendars.once(),
            defaults=self._defaults,
            secrets=self._secrets.once(),
            quotas=self._quotas,
        )

    def with_retry(self, namespace: str, definition: Definition) -> Definition:
        """The definition with the namespace's retry if it has none of its own."""
        return self._defaults.with_retry(namespace, definition)

    def with_days(self, namespace: str, definition: Definition, stored: Job | None = None) -> Definition:
        """The definition with the closed days of its calendar; `stored` is the job that it replaces.

        Raises InvalidError if the calendar does not exist, unless the stored job names it too.
        """
        return self._calendars.with_days(namespace, definition, stored)

    def check(
        self,
        namespace: str,
        definition: Definition,
        stored: Definition | None = None,
        *,
        policy: str | None = None,
    ) -> None:
        """Raise InvalidError with the first of these that is wrong: policy, targets, secrets, size of data.

        `stored` is the definition that a patch changes. What the patch leaves as it is, is not judged again:
        a secret and a default target may have been deleted since then. The job may go on to name its
        `policy`, which may have been deleted.
        """
        if definition.policy != (policy if stored is None else stored.policy):
            self._policies.check(namespace, definition)
        has_other_data = stored is None or definition.payload != stored.payload
        if has_other_data or _targets(definition) != _targets(stored):
            self._defaults.check(namespace, definition)
        refs = _refs_of(definition)
        if stored is None or refs != _refs_of(stored):
            self._secrets.check(namespace, refs)
        if has_other_data:
            self._quotas.check_payload(namespace, definition.payload)


def _targets(definition: Definition | None) -> list[object]:
    return [] if definition is None else [definition.written.get(name) for name in TARGET_FIELDS]

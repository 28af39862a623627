"""The one check of a job that is written, by PUT, PATCH or in bulk: what only its namespace can tell."""

from sweephand.jobs.namespace_defaults import NamespaceDefaults
from sweephand.jobs.policy_check import PolicyCheck
from sweephand.jobs.quotas import Quotas
from sweephand.jobs.secret_check import SecretCheck, secret_refs_of
from sweephand.model.definition import TARGET_FIELDS, Definition


class WriteCheck:
    """Judges the definition of a job by the policies, settings, secrets and limits of its namespace."""

    def __init__(
        self, *, policies: PolicyCheck, defaults: NamespaceDefaults, secrets: SecretCheck, quotas: Quotas
    ) -> None:
        self.policies = policies
        self._defaults = defaults
        self._secrets = secrets
        self._quotas = quotas

    def once(self) -> "WriteCheck":
        """A check for one call that writes several jobs: it reads each policy and each secret once."""
        return WriteCheck(
            policies=self.policies.once(),
            defaults=self._defaults,
            secrets=self._secrets.once(),
            quotas=self._quotas,
        )

    def with_retry(self, namespace: str, definition: Definition) -> Definition:
        """The definition with the namespace's retry if it has none of its own."""
        return self._defaults.with_retry(namespace, definition)

    def check(self, namespace: str, definition: Definition, stored: Definition | None = None) -> None:
        """Raise InvalidError with the first of these that is wrong: policy, targets, secrets, size of data.

        `stored` is the definition that a patch changes. What the patch leaves as it is, is not judged again:
        a policy, a secret and a default target may have been deleted since then.
        """
        if stored is None or definition.policy != stored.policy:
            self.policies.check(namespace, definition)
        has_other_data = stored is None or definition.payload != stored.payload
        if has_other_data or _targets(definition) != _targets(stored):
            self._defaults.check(namespace, definition)
        if stored is None or secret_refs_of(definition) != secret_refs_of(stored):
            self._secrets.check(namespace, definition)
        if has_other_data:
            self._quotas.check_payload(namespace, definition.payload)


def _targets(definition: Definition | None) -> list[object]:
    return [] if definition is None else [definition.written.get(name) for name in TARGET_FIELDS]

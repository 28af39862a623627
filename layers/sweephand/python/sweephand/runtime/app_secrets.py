"""The use cases of signing secrets and of the secrets that jobs name, made like those of an App."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sweephand.access.named_secrets import SecretAdmin, SecretReader
    from sweephand.access.request_rate import RequestRates
    from sweephand.access.signing_keys import SigningKeys
    from sweephand.jobs.write_check import SecretCheck
    from sweephand.model.secret import Secret
    from sweephand.runs.attempt import DefaultTarget, Signing
    from sweephand.runs.run_secrets import RunSecrets
    from sweephand.runtime.app_ports import Ports


class SecretUseCases:
    """The use cases over one set of ports. Each is made when it is first asked for."""

    def __init__(self, ports: "Ports") -> None:
        self._ports = ports

    @cached_property
    def signing_keys(self) -> "SigningKeys":
        """The signing secrets of the namespaces."""
        from sweephand.access.signing_keys import SigningKeys

        ports = self._ports
        return SigningKeys(secrets=ports.secrets, ids=ports.ids, clock=ports.clock)

    @cached_property
    def request_rates(self) -> "RequestRates":
        """The rates of keys that have one."""
        from sweephand.access.request_rate import RequestRates

        return RequestRates(lambda: self._ports.allowances)

    @cached_property
    def admin(self) -> "SecretAdmin":
        """Writes, lists and deletes secrets."""
        from sweephand.access.named_secrets import SecretAdmin

        ports = self._ports
        return SecretAdmin(secrets=ports.named_secrets, clock=ports.clock, ids=ports.ids)

    @cached_property
    def check(self) -> "SecretCheck":
        """Refuses jobs whose secrets do not exist."""
        from sweephand.jobs.write_check import SecretCheck

        return SecretCheck(self._read)

    def of_runs(self, signing: "Signing | None", default_target: "DefaultTarget") -> "RunSecrets":
        """Hides secrets in what consumers say of runs. `signing` stands in for the signing keys, if given."""
        from sweephand.runs.run_secrets import RunSecrets

        return RunSecrets(
            signing=signing or self.signing_keys, read=self._active, default_target=default_target
        )

    def _read(self, namespace: str, names: "Collection[str]") -> "Mapping[str, Secret]":
        # Most jobs name no secret, so the store is made at the first one that does.
        return self._ports.named_secrets.get_many(namespace, names)

    @cached_property
    def _reader(self) -> "SecretReader":
        from sweephand.access.named_secrets import SecretReader

        return SecretReader(secrets=self._ports.named_secrets, clock=self._ports.clock)

    def _active(self, namespace: str, names: "Collection[str]") -> "Mapping[str, Sequence[str]]":
        # As above: the store is made at the first job that names a secret.
        return self._reader.active(namespace, names)

"""What the API stands on: the use cases and ports that its operations call."""

from dataclasses import dataclass

from sweephand.access.signing_keys import SigningKeys
from sweephand.jobs.read import Reader
from sweephand.jobs.write import Writer
from sweephand.ports import Clock, Ids, KeyStore, LeaseStore, RunStore


@dataclass(frozen=True, slots=True)
class Services:
    """One of each. `allow_insecure_targets` is true where a stack lets targets be `http` and loopback."""

    writer: Writer
    reader: Reader
    runs: RunStore
    keys: KeyStore
    signing: SigningKeys
    leases: LeaseStore
    clock: Clock
    ids: Ids
    allow_insecure_targets: bool = False

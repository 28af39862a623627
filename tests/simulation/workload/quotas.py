"""How many jobs a seed's namespace may store, and how large their data may be. Only some seeds have limits.

The random numbers of this module are its own, and so are its seeds, so that other seeds stay what they are.
"""

from dataclasses import dataclass
from typing import Final

from tests.fakes.world import key_of
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import stream

from sweephand.base.instants import Instant
from sweephand.model.namespace import NamespaceLimits, NamespaceSettings

#: The namespaces of these seeds have such limits.
FIRST_WITH_QUOTAS: Final = 3_400_000
_AFTER_QUOTAS: Final = 3_500_000

#: Fewer jobs than most seeds have names, and less than the large data of some definitions.
_JOBS: Final = (1, 2, 3)
_PAYLOAD_BYTES: Final = 2_000


@dataclass(frozen=True, slots=True)
class Quotas:
    """The limits of a seed's namespace; None without any."""

    jobs_max: int | None = None
    payload_bytes_max: int | None = None

    @classmethod
    def of(cls, seed: int) -> "Quotas":
        """Return those of a seed. A seed that lasts for days has none."""
        if not FIRST_WITH_QUOTAS <= seed < _AFTER_QUOTAS or Scenario.of(seed).is_sparse:
            return cls()
        random = stream(seed, "quotas")
        return cls(random.choice(_JOBS), random.choice((None, _PAYLOAD_BYTES)))

    @property
    def are_on(self) -> bool:
        """Whether there are any."""
        return self.jobs_max is not None

    def settings(self, now: Instant) -> NamespaceSettings:
        """Return the settings of the namespace, as an admin has written them before the world begins."""
        limits = NamespaceLimits(self.jobs_max, self.payload_bytes_max)
        return NamespaceSettings(key_of("job-0").namespace, "first", limits, now, "admin")


#: A namespace without limits.
NONE: Final = Quotas()

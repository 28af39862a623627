"""What was measured: one result for each scheduler, scenario and round, kept as JSON, and their summary."""

import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, Final

#: The figures of which a summary has the worst round. Of all others it has the median.
_WORST: Final = frozenset({"lost", "early", "twice"})


@dataclass(frozen=True, slots=True)
class Result:
    """The figures of one scenario in one round. Without figures, `why` says why there are none."""

    peer: str
    scenario: str
    round: int
    figures: Mapping[str, float] = field(default_factory=dict)
    why: str = ""


def summary(results: Iterable[Result]) -> Mapping[tuple[str, str], Result]:
    """One result for each scheduler and scenario: medians of the rounds, and the worst of what went wrong."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for each in results:
        groups.setdefault((each.peer, each.scenario), []).append(each)
    return {key: _summed(group) for key, group in groups.items()}


def _summed(group: Sequence[Result]) -> Result:
    told = [each for each in group if each.figures]
    if not told:
        return group[-1]
    names = dict.fromkeys(name for each in told for name in each.figures)
    figures = {
        name: (max if name in _WORST else median)(
            [each.figures[name] for each in told if name in each.figures]
        )
        for name in names
    }
    return Result(group[0].peer, group[0].scenario, len(told), figures, told[-1].why)


class Record:
    """The file of all results. A run replaces what it measures again, and keeps the rest."""

    def __init__(self, file: Path) -> None:
        self._file = file
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        self.machine: Mapping[str, str] = found.get("machine", {})
        self.peers: dict[str, Mapping[str, Any]] = found.get("peers", {})
        self.results = [Result(**each) for each in found.get("results", ())]

    def forget(self, peers: Iterable[str], scenarios: Iterable[str]) -> None:
        """Drop what is going to be measured again."""
        again = {(peer, scenario) for peer in peers for scenario in scenarios}
        self.results = [each for each in self.results if (each.peer, each.scenario) not in again]

    def add(self, result: Result) -> None:
        """Keep a result, in the file too."""
        self.results.append(result)
        self.save()

    def save(self) -> None:
        """Write the file, with how busy this machine is."""
        self.machine = {
            "cores": str(os.cpu_count()),
            "load": f"{os.getloadavg()[2]:.1f}",
            "system": f"{platform.system()} {platform.release()}",
            "date": datetime.now(UTC).date().isoformat(),
        }
        whole = {
            "machine": self.machine,
            "peers": self.peers,
            "results": [asdict(each) for each in sorted(self.results, key=lambda each: each.scenario)],
        }
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")

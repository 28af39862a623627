"""pg-boss on PostgreSQL."""

from collections.abc import Mapping

from infra.shootout import postgres
from infra.shootout.node import NodePrograms


class PgBoss(NodePrograms):
    """One-offs are jobs with `startAfter`."""

    name = "pg-boss"
    setting = "PostgreSQL's default: each commit is synced; polls each 0.5 s, the least that pg-boss allows"
    lacks: Mapping[str, str] = {"recurring": "its schedules fire at most once a minute"}
    script = "pgboss.mjs"
    packages = ("pg-boss",)

    def versions(self) -> Mapping[str, str]:
        """The versions of pg-boss, Node.js and PostgreSQL."""
        return {**super().versions(), **postgres.version()}

    def address(self) -> object:
        """The address of the database."""
        return postgres.address(self.port)

    def launch(self) -> None:
        """Start PostgreSQL and the worker on the port of the run."""
        postgres.start(self.processes, self.run.home, self.port)
        self.start_worker(self.address())

"""Earlier revisions are forgotten, and what a job has no room for is not filed."""

from collections.abc import Iterator

from tests.simulation.mutations.registry import Instead, Ports, built, everywhere, mutation

from sweephand.jobs.commit import Commits


def _files_nothing(ports: Ports) -> None:
    ports["jobs"] = Instead(ports["jobs"], file=lambda *_: None)


@mutation("One earlier revision is kept, and none is filed")
def keeps_one_revision() -> Iterator[None]:
    with everywhere("EARLIER_REVISIONS_MAX", 1), built(Commits, _files_nothing):
        yield


@mutation("Three earlier revisions are kept, and none is filed")
def keeps_three_revisions() -> Iterator[None]:
    with everywhere("EARLIER_REVISIONS_MAX", 3), built(Commits, _files_nothing):
        yield


@mutation("A revision for which a job has no room is not filed")
def files_no_revision() -> Iterator[None]:
    with built(Commits, _files_nothing):
        yield

"""Reading the jobs that a filter selects: up to a thousand in a call, within the time that a call has."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sweephand.base.instants import Instant
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.model.job import Job
from sweephand.model.page import Page
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import JobStore

#: Jobs that are read at once by a call that may end before it has handled all of them. They are handled
#: before the next ones are read.
_PAGE_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class Filter:
    """The jobs of a call: those of a namespace with that prefix and all the labels, after `after`."""

    namespace: str
    prefix: str = ""
    labels: Mapping[str, str] | None = None
    after: str = ""

    def matches(self, job: Job) -> bool:
        """Whether a job has all the labels. The store selects by name."""
        labels = job.definition.labels
        return all(labels.get(name) == value for name, value in (self.labels or {}).items())


def examined_pages(
    jobs: JobStore,
    job_filter: Filter,
    clock: Clock,
    until: Instant,
    page_max: Callable[[], int] = lambda: _PAGE_MAX,
) -> Iterator[Page[Job]]:
    """The jobs with the filter's prefix, in pages sorted by name. The caller looks at their labels.

    A page has up to `page_max()` jobs, or 100. Larger pages take fewer requests and units: a store asks 16
    partitions for each page. No page is read after `until`, or after a thousand jobs. The `next` of the last
    page is then the name up to which jobs were read. There is at least one page, unless the caller comes
    after `until`.
    """
    examined = 0
    after: str | None = job_filter.after
    while after is not None and examined < BULK_EXAMINED_MAX and clock.now() < until:
        limit = min(page_max(), BULK_EXAMINED_MAX - examined)
        page = jobs.page(job_filter.namespace, job_filter.prefix, after, limit)
        yield page
        examined += len(page.items)
        after = page.next

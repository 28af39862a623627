"""Schedule groups: namespaces that EventBridge Scheduler's API has created, each with tags."""

from collections.abc import Callable, Iterable, Mapping

from sweephand.base.errors import ConflictError, InvalidError, NotFoundError, Violation
from sweephand.base.instants import Instant
from sweephand.jobs.preconditions import until_written
from sweephand.model.page import Page
from sweephand.model.schedule_group import DEFAULT_GROUP, ScheduleGroup
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.schedule_groups import ScheduleGroupStore


class ScheduleGroups:
    """Creates, shows, tags and removes groups. The group `default` is always there, and cannot be removed."""

    def __init__(self, *, groups: ScheduleGroupStore, clock: Clock, ids: Ids) -> None:
        self._groups = groups
        self._clock = clock
        self._ids = ids

    def get(self, name: str) -> ScheduleGroup:
        """The group. Raises NotFoundError."""
        found = self._groups.get(name)
        if found is not None:
            return found
        if name == DEFAULT_GROUP:
            return ScheduleGroup(name, None, 0, 0, {})
        raise NotFoundError(f"Schedule group {name} does not exist.")

    def page(self, prefix: str, after: str, limit: int) -> Page[ScheduleGroup]:
        """Up to `limit` stored groups with that prefix by name, after the name `after`."""
        return self._groups.page(prefix, after, limit)

    def create(self, name: str, tags: Mapping[str, str]) -> ScheduleGroup:
        """Create a group. Raises ConflictError if there is one, and StoreError as put() of the store does."""
        stored = self._groups.get(name)
        if stored is not None or name == DEFAULT_GROUP:
            raise ConflictError(f"Schedule group {name} already exists.")
        now = self._clock.now()
        group = ScheduleGroup(name, self._ids.token(), now, now, tags)
        if not self._groups.put(group, None):
            raise ConflictError(f"Schedule group {name} already exists.")
        return group

    def tag(self, name: str, tags: Mapping[str, str], tags_max: int) -> None:
        """Set tags of a group; others stay. Raises NotFoundError, and ConflictError for too many tags."""

        def change(before: Mapping[str, str]) -> Mapping[str, str]:
            after = {**before, **tags}
            if len(after) > tags_max:
                raise ConflictError(f"A schedule group has at most {tags_max} tags.")
            return after

        self._change(name, lambda group, now: group._replace(tags=change(group.tags), updated_at=now))

    def untag(self, name: str, keys: Iterable[str]) -> None:
        """Remove tags of a group. One that is not there changes nothing. Raises NotFoundError."""
        gone = set(keys)
        self._change(
            name,
            lambda group, now: group._replace(
                tags={key: value for key, value in group.tags.items() if key not in gone}, updated_at=now
            ),
        )

    def begin_deletion(self, name: str) -> ScheduleGroup:
        """Let a group take no more schedules. Raises NotFoundError, and InvalidError for `default`."""
        if name == DEFAULT_GROUP:
            raise InvalidError([Violation("/Name", "The schedule group default cannot be deleted.")])
        return self._change(name, lambda group, now: group._replace(is_deleting=True, updated_at=now))

    def end_deletion(self, group: ScheduleGroup) -> None:
        """Remove a group whose schedules are deleted, if it is as `begin_deletion` left it."""
        self._groups.delete(group)

    def _change(self, name: str, changed: Callable[[ScheduleGroup, Instant], ScheduleGroup]) -> ScheduleGroup:
        def write() -> ScheduleGroup | None:
            before = self.get(name)
            after = changed(before, self._clock.now())._replace(version=self._ids.token())
            return after if self._groups.put(after, before.version) else None

        return until_written(write, "The schedule group was written by other requests. Try again.")

"""How settings and windows of namespaces are stored in the Jobs table, with the counts of their jobs."""

from typing import Final, get_args

from sweephand.base.instants import Instant
from sweephand.base.layouts import NAME, OBJECT, SENTENCE, WHOLE, Field, Layout, Part, choice_of, list_of
from sweephand.base.limits import NAMESPACE_HOSTS_MAX, NAMESPACE_NETWORKS_MAX, WINDOWS_MAX
from sweephand.model.change import AdminChange
from sweephand.model.namespace import (
    AllowedTargets,
    JobCount,
    NamespaceDefaults,
    NamespaceLimits,
    NamespaceSettings,
)
from sweephand.model.page import Page
from sweephand.model.window import Then, Window, Windows
from sweephand.model.wire_parts import SERIES
from sweephand.storage.changes import records
from sweephand.storage.item import IntegerAttribute, Item, StoredItem, fields_of
from sweephand.storage.jobs import count_jobs
from sweephand.storage.table import ItemKey, RawItem, Refusal, Table, VersionedItem, put_version

#: The settings of a namespace as stored. The key holds the namespace.
_SETTINGS: Final = Layout(
    NamespaceSettings,
    Field("version", "version", NAME),
    Field(
        "limits",
        "limits",
        Layout(
            NamespaceLimits,
            Field("jobs_max", "jobs_max", WHOLE, None),
            Field("payload_bytes_max", "payload_bytes_max", WHOLE, None),
            Field("triggers_per_minute", "triggers_per_minute", WHOLE, None),
        ).form,
    ),
    Part(
        "defaults",
        Layout(
            NamespaceDefaults, Field("target", "target", OBJECT, None), Field("retry", "retry", OBJECT, None)
        ),
    ),
    Part(
        "allowed",
        Layout(
            AllowedTargets,
            Field("hosts", "hosts", list_of(SENTENCE, 0, NAMESPACE_HOSTS_MAX), ()),
            Field("networks", "networks", list_of(SENTENCE, 0, NAMESPACE_NETWORKS_MAX), ()),
        ),
    ),
    Field("updated_at", "updated", WHOLE),
    Field("owner", "owner", SENTENCE),
)


_WINDOW: Final = Layout(
    Window,
    Field("name", "name", NAME),
    Field("version", "version", NAME),
    Field("series", "series", SERIES),
    Field("duration_ms", "for", WHOLE),
    Field("updated_at", "updated", WHOLE),
    Field("owner", "owner", SENTENCE),
    Field("then", "then", choice_of(*get_args(Then)), "hold"),
    Field("spread_ms", "spread", WHOLE, 0),
    Field("prefix", "prefix", SENTENCE, ""),
    Field("labels", "labels", OBJECT, {}),
)

#: All windows of a namespace as stored, in one item.
_WINDOWS: Final = Layout(
    Windows,
    Field("version", "version", NAME),
    Field("windows", "windows", list_of(_WINDOW.form, 0, WINDOWS_MAX), ()),
    Field("changed_at", "changed", WHOLE, 0),
)


class KnownItem(Item):
    """A namespace that was used, in the one partition that lists them all."""


class CountItem(VersionedItem):
    """The count of a namespace's jobs."""

    used = IntegerAttribute()
    since_mark = IntegerAttribute(attr_name="since")
    marked_at = IntegerAttribute(null=True, attr_name="marked")
    counted_at = IntegerAttribute(attr_name="counted")
    epoch = IntegerAttribute()


class DynamoNamespaces:
    """ports.NamespaceStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, namespace: str) -> NamespaceSettings | None:
        """The settings. One strong read: 1 RRU."""
        raw = self._table.get(_settings_key(namespace))
        return None if raw is None else _settings(raw)

    def put(self, settings: NamespaceSettings, replacing: str | None, change: AdminChange) -> bool:
        """Write the settings if the stored version is `replacing`, or if this very write is stored.

        One transaction writes the settings and the records of the change: 2 WRU for each KB of each.
        """
        item = StoredItem(*_settings_key(settings.namespace), _SETTINGS, settings)
        return put_version(self._table, item, settings.version, replacing, records(change))

    def with_windows(self, namespace: str) -> tuple[NamespaceSettings | None, Windows | None]:
        """Both. One strong query, which costs as much as one of them alone: 1 RRU for 4 KB."""
        partition, first = _settings_key(namespace)
        result = self._table.query((VersionedItem.pk == partition) & (VersionedItem.sk >= first))
        found = {raw["sk"]["S"]: raw for raw in result.items}
        settings, windows = found.get(first), found.get(_windows_key(namespace)[1])
        return (
            None if settings is None else _settings(settings),
            None if windows is None else _windows(windows),
        )

    def windows(self, namespace: str) -> Windows | None:
        """The windows. One strong read: 1 RRU for each 4 KB."""
        raw = self._table.get(_windows_key(namespace))
        return None if raw is None else _windows(raw)

    def put_windows(self, windows: Windows, replacing: str | None, change: AdminChange) -> bool:
        """Write the windows as put() writes the settings."""
        item = StoredItem(*_windows_key(windows.namespace), _WINDOWS, windows)
        return put_version(self._table, item, windows.version, replacing, records(change))

    def job_count(self, namespace: str) -> JobCount | None:
        """The count. One strong read: 1 RRU."""
        raw = self._table.get(_count_key(namespace))
        return None if raw is None else _count(raw)

    def put_job_count(self, namespace: str, count: JobCount, replacing: str | None) -> bool:
        """Write the count if the stored version is `replacing`, or if this very write is stored already."""
        item = CountItem(
            *_count_key(namespace),
            version=count.version,
            used=count.used,
            since_mark=count.since_mark,
            marked_at=count.marked_at,
            counted_at=count.counted_at,
            epoch=count.epoch,
        )
        return put_version(self._table, item, count.version, replacing)

    def add_jobs(self, namespace: str, count: int, jobs_max: int, version: str) -> JobCount | None:
        """Count more jobs by one addition, which meets no other writer."""
        has_room = CountItem.used <= jobs_max - count
        actions = [
            CountItem.version.set(version),
            CountItem.used.add(count),
            CountItem.since_mark.add(count),
        ]
        answer = self._table.update(_count_key(namespace), actions, has_room)
        return None if isinstance(answer, Refusal) else _count(answer)

    def enlist(self, namespace: str) -> None:
        """List the namespace. 1 RRU, and 1 WRU the first time."""
        key = (_KNOWN, namespace)
        if self._table.get(key) is None:
            self._table.put(KnownItem(*key))

    def page(self, after: str, limit: int) -> Page[str]:
        """Up to `limit` names, in order: 1 RRU for some hundred of them."""
        # No name begins with a space, and the bound of a query must not be empty.
        result = self._table.query((KnownItem.pk == _KNOWN) & (KnownItem.sk > (after or " ")), limit)
        names = tuple(KnownItem.read(raw).sk for raw in result.items)
        return Page(names, names[-1] if result.has_more and names else None)

    def stored_jobs(self, namespace: str, now: Instant, besides: int | None = None) -> int:
        """The number of jobs, read from all partitions of the namespace: 1 RRU for each 4 KB of jobs."""
        return count_jobs(self._table, namespace, now, besides)


_KNOWN: Final = "namespaces"


def _settings_key(namespace: str) -> ItemKey:
    return f"namespace#{namespace}", "settings"


def _windows_key(namespace: str) -> ItemKey:
    return f"namespace#{namespace}", "windows"


def _count_key(namespace: str) -> ItemKey:
    return f"namespace#{namespace}", "jobs"


def _settings(raw: RawItem) -> NamespaceSettings:
    return NamespaceSettings(raw["pk"]["S"].split("#")[1], **fields_of(_SETTINGS, raw))


def _windows(raw: RawItem) -> Windows:
    return Windows(raw["pk"]["S"].split("#")[1], **fields_of(_WINDOWS, raw))


def _count(raw: RawItem) -> JobCount:
    item = CountItem.read(raw)
    return JobCount(
        item.version,
        item.used,
        since_mark=item.since_mark,
        marked_at=item.marked_at,
        counted_at=item.counted_at,
        epoch=item.epoch,
    )

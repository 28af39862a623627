"""How a client writes many jobs in one call, and what the trace keeps of the answer."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tests.simulation.traces.rare_events import BulkWriteAnswered, EntryAnswered
from tests.simulation.workload.bulk_writes import Entry

from sweephand.base.errors import StoreError
from sweephand.model.api_key import Caller
from sweephand.web.http.operation import NoQuery
from sweephand.web.http.operation import Request as HttpRequest
from sweephand.web.routes.bulk import BulkWriteRequest, put_jobs

if TYPE_CHECKING:
    from tests.simulation.workload.verbs import Request

_CALLER: Final = Caller("client", "*", "write")


def write_many(request: "Request") -> None:
    """Send the call. The client sends the same call again while any of its jobs was not written.

    Raises StoreError then.
    """
    known, asking, chronicle = request.known, request.asking, request.chronicle
    if known.entries is None:
        known.entries = request.bulk_writes.entries(request.key.name, request.at)
    entries, asked_at = known.entries, chronicle.now()
    chronicle.figures["bulk entries"] += len(entries)
    call: HttpRequest[NoQuery, BulkWriteRequest] = HttpRequest(
        caller=_CALLER,
        path={"namespace": request.key.namespace},
        query=NoQuery(),
        body=BulkWriteRequest.model_validate({"jobs": [each.document for each in entries]}),
        headers={},
        requested_at=request.at,
    )
    results = put_jobs.run(request.api, call).body["results"]
    answers = tuple(map(_answered, entries, results))
    chronicle.add(
        BulkWriteAnswered(chronicle.now(), asking.process, asked_at, answers, written=tuple(asking.revs))
    )
    assert len(results) == len(entries), "each entry has an answer"
    if any(not each.is_acknowledged and not each.is_refused for each in answers):
        raise StoreError("some jobs of the call were not written")


def _answered(entry: Entry, result: Mapping[str, Any]) -> EntryAnswered:
    document = entry.document if isinstance(entry.document, dict) else {}
    return EntryAnswered(
        name=entry.name,
        data=json.dumps(document["data"]) if "data" in document else None,
        is_valid=entry.is_valid,
        told_name=result["name"],
        status=result["status"],
        rev=result.get("rev"),
        detail=result.get("problem", {}).get("detail", ""),
    )

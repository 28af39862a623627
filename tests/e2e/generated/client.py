"""Calls a stack with the client that openapi-python-client generates.

Its arguments are the URL of the stack, a key, and the URL of a consumer. It runs in the environment of the
generator, which has nothing of Sweephand.
"""

import importlib
import pkgutil
import sys

import sweephand_api
from sweephand_api import AuthenticatedClient
from sweephand_api.api.jobs import delete_job, get_job, list_jobs, put_job, trigger_job
from sweephand_api.api.occurrences import preview_occurrences
from sweephand_api.api.runs import list_runs
from sweephand_api.models import GatewayRefusal, JobRequest, PreviewRequest, ProblemResponse

url, key, consumer = sys.argv[1:]
client = AuthenticatedClient(url, key)

for module in pkgutil.walk_packages(sweephand_api.__path__, "sweephand_api."):
    importlib.import_module(module.name)

target = {"type": "http", "url": consumer}
job = {"target": target, "onComplete": target, "labels": {"team": "ops"}, "data": {"n": 1.5}}
for name, written in (("single", job), ("batch", {**job, "batch": {"count": 2}})):
    assert put_job.sync("demo", name, client=client, body=JobRequest.from_dict(written)).name == name
    assert get_job.sync("demo", name, client=client).to_dict().items() >= written.items()
    trigger_job.sync("demo", name, client=client)
    states = [""]
    while set(states) != {"succeeded"}:
        states = [run.state for run in list_runs.sync("demo", name, client=client).items] or [""]

preview = preview_occurrences.sync(client=client, body=PreviewRequest(schedule="@daily", limit=2))
assert len(preview.occurrences) == 2, preview
refused = put_job.sync(
    "demo", "wrong", client=client, body=JobRequest.from_dict({**job, "schedule": "never"})
)
assert isinstance(refused, ProblemResponse), refused
assert "/schedule" in {each.pointer for each in refused.errors}, refused

# A deleted job sends no notifications any more, so this is a job without runs.
put_job.sync("demo", "idle", client=client, body=JobRequest.from_dict(job))
assert delete_job.sync_detailed("demo", "idle", client=client).status_code == 204
assert [each.name for each in list_jobs.sync("demo", client=client).items] == ["batch", "single"]
denied = get_job.sync("demo", "single", client=AuthenticatedClient(url, "sh_wrong_x"))
assert isinstance(denied, GatewayRefusal), denied

"""The API function: a request of the gateway in, the response out."""

from functools import cache

# Imported while the function starts: Lambda then gives it a whole CPU, and a snapshot keeps the modules.
import sweephand.delivery.sqs_queue
import sweephand.jobs.write
import sweephand.schedules.notations.parsing
import sweephand.storage.api_keys
import sweephand.storage.changes
import sweephand.storage.flags
import sweephand.storage.jobs
import sweephand.storage.leases
import sweephand.storage.lines
import sweephand.storage.namespaces
import sweephand.storage.payloads
import sweephand.storage.permits
import sweephand.storage.policy_lines
import sweephand.storage.runs
import sweephand.storage.signing_secrets
import sweephand.storage.timers  # noqa: F401
from sweephand.runtime.aws_ports import app
from sweephand.web.http.app import Handler, build_handler


@cache
def api() -> Handler:
    """The handler of the API over this stack."""
    return build_handler(app().services)

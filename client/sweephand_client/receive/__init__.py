"""What receives the deliveries of Sweephand in an application: verified, once, and by a handler for each job.

    from sweephand_client.receive import Receiver

    receiver = Receiver("billing")

    @receiver.on("nightly-backup")
    def backup(run): ...

The modules flask, starlette, django and aws_lambda connect a receiver with a framework.
"""

from sweephand_client.receive.outcomes import ACCEPTED, FinalError, Gone, RetryAfter
from sweephand_client.receive.receiver import Receiver
from sweephand_client.receive.run import Run

__all__ = ["ACCEPTED", "FinalError", "Gone", "Receiver", "RetryAfter", "Run"]

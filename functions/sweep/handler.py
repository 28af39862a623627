"""The sweep function. Tick invokes it when one sweeper does not suffice."""

from sweephand.runtime.start import starting

with starting():
    from typing import TYPE_CHECKING, Any

    from aws_lambda_powertools import Logger

    from sweephand.base.errors import StoreError
    from sweephand.runtime import wheel
    from sweephand.runtime.aws import make_clients

    if TYPE_CHECKING:
        from aws_lambda_powertools.utilities.typing import LambdaContext

    logger = Logger()
    make_clients()


def handler(event: dict[str, Any], context: "LambdaContext") -> None:
    """Sweep the shards from `firstShard` on, and log what was found in one line.

    What failed is raised in the end. Lambda then counts an error.
    """
    logger.append_keys(request_id=context.aws_request_id)
    try:
        swept = wheel.sweep(int(event.get("firstShard", 0)), context.get_remaining_time_in_millis())
    except StoreError:
        wheel.report_failure(logger)
        raise
    wheel.report_sweep(logger, swept)
    swept.raise_faults()

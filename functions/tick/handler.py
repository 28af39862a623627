"""The tick function. EventBridge Scheduler invokes it every minute."""

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


def handler(_event: dict[str, Any], context: "LambdaContext") -> None:
    """Have all due timers swept, and log in one line how many sweepers that took and what they found.

    What failed is raised in the end, when all other duties are done. Lambda then counts an error.
    """
    logger.append_keys(request_id=context.aws_request_id)
    try:
        ticked = wheel.tick(context.get_remaining_time_in_millis())
    except StoreError:
        wheel.report_failure(logger)
        raise
    wheel.report_tick(logger, ticked)
    try:
        audited = wheel.audit(context.get_remaining_time_in_millis())
        if audited is not None:
            logger.info("audited", extra=audited._asdict())
        jobs_audited = wheel.audit_jobs(context.get_remaining_time_in_millis())
        if jobs_audited is not None:
            wheel.report_audit(logger, jobs_audited)
        wheel.keep_waiting(logger, ticked, context.get_remaining_time_in_millis())
    finally:
        ticked.raise_faults()

"""A stack in simulated time, for the tests of those who use Sweephand."""

from sweephand_engine.testing.applications import Reply
from sweephand_engine.testing.consumers import Delivery
from sweephand_engine.testing.stack import Run, Stack

__all__ = ["Delivery", "Reply", "Run", "Stack"]

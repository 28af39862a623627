"""The simulated platform has the settings of template.yaml."""

import re
from pathlib import Path

from tests.simulation.world.processes import LIMITS_MS
from tests.simulation.world.sqs import RECEIVES_MAX, VISIBILITY_MS

TEMPLATE = Path(__file__).parents[3] / "template.yaml"


def block(name: str) -> str:
    """Return the lines of one resource of the template."""
    _, _, rest = TEMPLATE.read_text().partition(f"\n  {name}:\n")
    return rest.partition("\n\n  ")[0]


def test_time_limits_are_those_of_the_template() -> None:
    for role, limit_ms in LIMITS_MS.items():
        function = block(f"{role.capitalize()}Function")
        assert re.search(rf"^      Timeout: {limit_ms // 1_000}\b", function, re.MULTILINE)


def test_the_queue_is_that_of_the_template() -> None:
    queue = block("DeliveryQueue")
    assert f"VisibilityTimeout: {VISIBILITY_MS // 1_000}\n" in queue
    assert f"maxReceiveCount: {RECEIVES_MAX}" in queue

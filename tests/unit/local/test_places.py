"""Where a local stack says how it is called."""

from infra.local.places import LOCAL, PORT_DEFAULT, Place


def test_the_stack_that_is_started_without_a_port_is_described_where_the_documentation_reads() -> None:
    assert Place(PORT_DEFAULT).stack_file == LOCAL / "stack.json"


def test_stacks_on_other_ports_are_described_by_their_ports() -> None:
    assert Place(4800).stack_file == LOCAL / "stack-4800.json"

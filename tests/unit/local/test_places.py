"""The file in which a local stack writes its address and key."""

from infra.local.places import LOCAL, PORT_DEFAULT, Place


def test_the_stack_on_the_default_port_is_described_in_stack_json() -> None:
    assert Place(PORT_DEFAULT).stack_file == LOCAL / "stack.json"


def test_a_stack_on_another_port_has_a_file_that_is_named_after_the_port() -> None:
    assert Place(4800).stack_file == LOCAL / "stack-4800.json"

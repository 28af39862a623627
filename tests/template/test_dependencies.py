"""The resources of the template can be made one after the other."""

from graphlib import TopologicalSorter

from tests.template.stack import Stack


def test_no_resource_depends_on_itself_whatever_the_parameters_are(stack: Stack) -> None:
    depends = stack.dependencies()
    assert "DeliverFunctionAliaslive" in depends["TickRole"]
    assert "PayloadTablesRights" in {name for each in depends.values() for name in each}
    order = list(TopologicalSorter(depends).static_order())  # CycleError names the circle
    assert order.index("DeliverFunctionAliaslive") < order.index("ApiFunctionAliaslive")

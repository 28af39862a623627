"""Creates the tables of template.yaml on the engine of a client."""

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TEMPLATE: Final = Path(__file__).resolve().parents[2] / "template.yaml"


class _TemplateLoader(yaml.SafeLoader):
    """A YAML loader that reads CloudFormation's short functions (such as !Ref) as null."""


_TemplateLoader.add_multi_constructor("!", lambda _loader, _suffix, _node: None)


def create_table(client: "DynamoDBClient", logical_id: str, name: str) -> None:
    """Create the table that the template calls `logical_id`, under the name `name`."""
    specification = _specification(logical_id)
    # No two tests use one name. The table is there only if the SDK repeats a request that took long.
    with suppress(client.exceptions.ResourceInUseException):
        client.create_table(
            TableName=name,
            AttributeDefinitions=specification["AttributeDefinitions"],
            KeySchema=specification["KeySchema"],
            BillingMode=specification["BillingMode"],
        )


@cache
def template() -> dict[str, Any]:
    """The template, with CloudFormation's short functions as null."""
    found: dict[str, Any] = yaml.load(TEMPLATE.read_text(encoding="utf-8"), _TemplateLoader)  # noqa: S506 (a safe loader's child)
    return found


def _specification(logical_id: str) -> dict[str, Any]:
    specification: dict[str, Any] = template()["Resources"][logical_id]["Properties"]
    return specification

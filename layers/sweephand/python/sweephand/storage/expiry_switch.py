"""Whether DynamoDB removes what has expired from the tables of the stack."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from sweephand.base.errors import StoreError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_ATTRIBUTE: Final = "expires_at"


class DynamoExpirySwitch:
    """ports.ExpirySwitch over the time to live of tables."""

    def __init__(self, client: "DynamoDBClient", tables: Sequence[str]) -> None:
        self._client = client
        self._tables = tables

    def set(self, *, is_on: bool) -> None:
        """One request for each table, and a second one if something is to be changed."""
        former = "DISABLED" if is_on else "ENABLED"
        for table in self._tables:
            try:
                answer = self._client.describe_time_to_live(TableName=table)
                if answer["TimeToLiveDescription"]["TimeToLiveStatus"] == former:
                    self._client.update_time_to_live(
                        TableName=table,
                        TimeToLiveSpecification={"AttributeName": _ATTRIBUTE, "Enabled": is_on},
                    )
            except (ClientError, BotoCoreError) as error:
                raise StoreError(f"The time to live of table {table} was not set: {error}") from error

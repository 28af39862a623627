"""Reads the timers of a deployed stack."""

from collections.abc import Mapping
from typing import Any

from boto3.dynamodb.conditions import Key
from infra.local.deploy import session

#: Beyond the 300 s in which a job is armed directly: only timer, tick and sweep can deliver it.
FAR_S = 330


def empty_wheel(stack: Mapping[str, Any]) -> set[str]:
    """Remove every item of the Timers table: timers, leases, the number of shards, and tick's heartbeat.

    Returns the sort keys of the items that are there afterwards. A tick may have written some.
    """
    table = (
        session().resource("dynamodb", endpoint_url=stack["awsEndpointUrl"]).Table(stack["tables"]["timers"])
    )
    with table.batch_writer() as batch:
        for item in table.scan()["Items"]:
            batch.delete_item(Key={"pk": item["pk"], "sk": item["sk"]})
    return {str(item["sk"]) for item in table.scan()["Items"]}


def timer_keys(stack: Mapping[str, Any]) -> list[str]:
    """The sort keys of all timers."""
    table = (
        session().resource("dynamodb", endpoint_url=stack["awsEndpointUrl"]).Table(stack["tables"]["timers"])
    )
    shards = table.query(KeyConditionExpression=Key("pk").eq("leases") & Key("sk").begins_with("0"))["Items"]
    assert shards, "there are no shards"
    return [
        str(item["sk"])
        for shard in shards
        for item in table.query(KeyConditionExpression=Key("pk").eq("shard#" + str(shard["sk"])))["Items"]
    ]

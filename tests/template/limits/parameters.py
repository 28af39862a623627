"""The parameters of the stacks that are looked at: the defaults, and the longest values of all."""

from typing import Final

_ARN: Final = "arn:aws:{}:ap-southeast-1:123456789012:"
_POLICY: Final = "arn:aws:iam::123456789012:policy/"
_KEY: Final = _ARN.format("kms") + "key/12345678-1234-1234-1234-123456789012"


def _list(entry: str, length: int) -> str:
    """As many entries as fit, so that the list has the length."""
    entries = [f"{entry}{number:04}" for number in range(length // (len(entry) + 5))]
    entries[-1] += "0" * (length - len(",".join(entries)))
    return ",".join(entries)


EVERYTHING: Final = {
    "LogLevel": "WARNING",
    "Metrics": "all",
    "Stats": "off",
    "AlarmTopicArn": _ARN.format("sns") + "x" * 256,
    "DomainName": ".".join(["d" * 62] * 4),
    "CertificateArn": _ARN.format("acm") + "certificate/12345678-1234-1234-1234-123456789012",
    "DisableDefaultEndpoint": "true",
    "TemplateNamespaces": _list("namespace", 200),
    "MaxTriggersPerMinute": "1000000",
    "ShardCount": "1024",
    "MaxSweepers": "100",
    "DeliveryConcurrency": "1000",
    "FlowPolicies": "on",
    "FlowConcurrency": "1000",
    "PriorityLanes": "drain",
    "ReserveConcurrency": "true",
    "LanesReserve": "4000",
    "ApiRequestsPerSecond": "5000",
    "SnapStart": "PublishedVersions",
    "AllowInsecureTargets": "false",
    "DeletionProtection": "true",
    # CloudFormation takes no longer value of a parameter. The five other lists share one policy.
    "TargetQueueArns": _list(_ARN.format("sqs") + "q", 4_096),
    "TargetFunctionArns": _list(_ARN.format("lambda") + "function:f", 1_000),
    "TargetTopicArns": _list(_ARN.format("sns") + "t", 1_000),
    "TargetBusArns": _list(_ARN.format("events") + "event-bus/b", 1_000),
    "TargetStateMachineArns": _list(_ARN.format("states") + "stateMachine:m", 1_000),
    "TargetRoleArns": _list("arn:aws:iam::123456789012:role/r", 1_000),
    "VpcSubnetIds": ",".join(f"subnet-{number:017x}" for number in range(16)),
    "VpcSecurityGroupIds": ",".join(f"sg-{number:017x}" for number in range(5)),
    "PrivateTargetCidrs": _list("10.0.0.", 2_000),
    "AllowedTargetHosts": _list("h", 2_000),
    "DeniedTargetHosts": _list("h", 2_000),
    "AllowedTargetCidrs": _list("10.0.0.", 2_000),
    "DeniedTargetCidrs": _list("10.0.0.", 2_000),
    "KmsKeyArn": _KEY,
    "OtherKmsKeyArns": f"{_KEY},{_KEY}",
    "PayloadTable": "p" * 255,
    "FormerPayloadTable": "f" * 255,
    "PayloadTableKeyArns": f"{_KEY},{_KEY}",
    "RolePath": f"/{'p' * 198}/",
    "PermissionsBoundaryArn": f"{_POLICY}boundary",
    "GradualDeployments": "true",
}

#: Everything at once: the policies that an update brings must fit beside those that it removes or replaces.
_OTHERS: Final = {
    "TargetQueueArns": _ARN.format("sqs") + "other",
    "TargetFunctionArns": _ARN.format("lambda") + "function:other",
    "TargetPolicyArns": ",".join(f"{_POLICY}{number}" for number in range(4)),
    "VpcSubnetIds": "subnet-1",
    "PrivateTargetCidrs": "10.1.0.0/16",
    "AllowedTargetHosts": "example.com",
    "PayloadTable": "other",
    "ProvisionedPollers": "200",
    "ProvisionedPollersMax": "2000",
    "WarmReadUnits": "1000000",
    "WarmWriteUnits": "4000",
}

#: An update that exchanges all policies of the operator at once.
_EXCHANGED: Final = {
    "TargetPolicyArns": ",".join(f"{_POLICY}{number}" for number in range(4, 8)),
    "ProvisionedPollers": "2",
    "ProvisionedPollersMax": "2",
    "WarmReadUnits": "12000",
    "WarmWriteUnits": "1000000",
}

_JWT: Final = {
    "AuthMode": "jwt",
    "JwtIssuer": f"https://{'i' * 492}",
    "JwtAudience": ",".join(f"audience-{number:010}" for number in range(50))[:1_000],
    "JwtNamespaceClaim": "n" * 45,
    "JwtRoleClaim": "r" * 45,
}

STACKS: Final = {
    "defaults": {},
    "everything, keys": {**EVERYTHING, "AuthMode": "keys"},
    "everything, iam": {**EVERYTHING, "AuthMode": "iam"},
    "everything, jwt": {**EVERYTHING, **_JWT},
    "everything, others": {**EVERYTHING, **_OTHERS},
    "everything, exchanged": {**EVERYTHING, **_OTHERS, **_EXCHANGED},
}

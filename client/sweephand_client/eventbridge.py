"""boto3's client of EventBridge Scheduler, whose calls go to a stack of Sweephand.

```python
from sweephand_client import eventbridge

scheduler = eventbridge.client()
scheduler.create_schedule(Name="nightly", ...)
```

`python -m sweephand_client.eventbridge` prints the service model by which the AWS CLI calls a stack with
AuthMode=iam.
"""

import importlib
import json
import sys
from typing import Any, Final

from sweephand_client.http.errors import InputError
from sweephand_client.profiles import Stack, find_stack

#: botocore wants a region to make a client. A stack's address says where the stack is.
_REGION_DEFAULT: Final = "us-east-1"

#: The service of API Gateway's own check of signatures.
_SIGNED_FOR: Final = "execute-api"


def client(stack: Stack | None = None, **options: Any) -> Any:
    """boto3's client `scheduler` for a stack. Without `stack`, `find_stack()` says which.

    `options` go to `boto3.client`. Errors are those of boto3: `client.exceptions.ConflictException` and so
    on. Raises InputError without boto3 or a stack.
    """
    stack = stack or find_stack()
    try:
        boto3: Any = importlib.import_module("boto3")
        botocore: Any = importlib.import_module("botocore")
        config: Any = importlib.import_module("botocore.config").Config
    except ImportError:
        raise InputError("This client is boto3's. Install it: pip install 'sweephand[eventbridge]'") from None
    is_signed = stack.auth == "iam"
    wanted = config() if is_signed else config(signature_version=botocore.UNSIGNED)
    given = options.pop("config", None)
    made = boto3.client(
        "scheduler",
        **{
            "endpoint_url": f"{stack.url}/v1/scheduler",
            "region_name": stack.aws_region() if is_signed else _REGION_DEFAULT,
            **options,
            "config": wanted if given is None else given.merge(wanted),
        },
    )

    def prove(request: Any, **_: Any) -> None:
        if is_signed:
            # API Gateway checks signatures for its own service.
            request.context.setdefault("signing", {})["signing_name"] = _SIGNED_FOR
        elif stack.key is not None:
            request.headers["Authorization"] = f"Bearer {stack.key}"

    made.meta.events.register("before-sign.scheduler", prove)
    return made


def service_model() -> dict[str, Any]:
    """The model that botocore has of EventBridge Scheduler, with the signatures that API Gateway checks.

    The AWS CLI takes it by `aws configure add-model`. InputError without botocore.
    """
    try:
        session: Any = importlib.import_module("botocore.session").get_session()
    except ImportError:
        raise InputError("The model is botocore's. Install it: pip install 'sweephand[iam]'") from None
    model: dict[str, Any] = session.get_component("data_loader").load_service_model("scheduler", "service-2")
    # With rules for endpoints of its own, a model has the signing name of these.
    return {**model, "metadata": {**model["metadata"], "signingName": _SIGNED_FOR}}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(service_model()))

"""What can keep a command from its work. Each message says what was wrong, and what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from botocore import exceptions
from botocore.exceptions import BotoCoreError, ClientError

#: What boto3 raises when a request gets no answer.
LOST: Final = (exceptions.ConnectionError, exceptions.HTTPClientError)


class DeployError(Exception):
    """The command cannot do what it was asked."""


class InputError(DeployError):
    """An option, the settings of AWS or the tools of this machine are wrong."""


class UnreachableError(DeployError):
    """AWS did not answer."""


class RefusedError(DeployError):
    """AWS refused a request, or could not make the stack."""


@contextmanager
def errors_of_aws() -> Iterator[None]:
    """Turn an error of boto3 into one of this module."""
    try:
        yield
    except ClientError as error:
        told = error.response["Error"]
        raise RefusedError(
            f"AWS refused {error.operation_name}: {told.get('Message', '')} ({told.get('Code', '')})"
        ) from error
    except LOST as error:
        raise UnreachableError(f"AWS did not answer: {error}") from error
    except BotoCoreError as error:
        # Credentials or a region are lacking, for example. botocore says which.
        raise InputError(f"{error}. Set up AWS as for its CLI: aws configure".replace("..", ".")) from error

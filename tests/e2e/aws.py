"""The part of the AWS CLI that the pages of the documentation use: `aws SERVICE OPERATION --OPTION VALUE …`.

It makes the same requests by the same models, and so refuses an unknown operation or option. `--query` and
`--output text` work as in the AWS CLI.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

import boto3
import jmespath
from botocore import xform_name

#: The AWS CLI has another name for this option of `aws sns subscribe`, since --endpoint is one of its own.
_RENAMED: Final = {"--notification-endpoint": "--endpoint"}


def main(words: list[str]) -> None:
    """Make the request, and print its answer."""
    service, operation, *left = words
    client: Any = boto3.client(service)  # type: ignore[call-overload]
    model = client.meta.service_model
    names = {xform_name(each, "-"): each for each in model.operation_names}
    members = model.operation_model(names[operation]).input_shape.members
    options = {xform_name(each, "-"): each for each in members}
    given = dict(zip(left[::2], left[1::2], strict=True))
    query, output = given.pop("--query", None), given.pop("--output", "json")
    arguments: dict[str, Any] = {}
    for option, text in given.items():
        if option == "--zip-file":
            arguments["Code"] = {"ZipFile": _value(text, "blob")}
            continue
        name = options[_RENAMED.get(option, option).removeprefix("--")]
        arguments[name] = _value(text, members[name].type_name)
    answer = getattr(client, xform_name(names[operation]))(**arguments)
    answer.pop("ResponseMetadata", None)
    found = answer if query is None else jmespath.search(query, answer)
    text = str(found) if output == "text" else json.dumps(found, default=str, indent=4)
    sys.stdout.write(text + "\n")


def _value(text: str, kind: str) -> Any:
    if kind == "blob":
        return Path(text.removeprefix("fileb://")).read_bytes()
    if kind == "list" and not text.startswith("["):
        return [text]
    if kind == "map" and not text.startswith("{"):
        return dict(each.split("=", 1) for each in text.split(","))
    return text if kind == "string" else json.loads(text)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Compares files of jobs with the JSON Schema that `sweephand schema` prints."""

import json
from functools import cache
from typing import Any

import jsonschema
from tests.fakes.http_events import document

from sweephand_client.http import exact_json
from sweephand_client.tasks.exact_yaml import parsed
from sweephand_client.tasks.jobs_file import jobs_schema


def errors_of(text: str) -> list[str]:
    """What the schema finds in a file, as JSON pointers with a sentence."""
    # Python is slow to read a long number, and a schema does not need all of its digits.
    value = json.loads(exact_json.write(parsed(text)), parse_int=lambda digits: int(digits[:100]))
    return _errors(value)


def errors_of_job(job: Any) -> list[str]:
    """What the schema finds in a file with this job alone."""
    return _errors({"jobs": [job]})


def _errors(value: Any) -> list[str]:
    return [f"{each.json_path}: {each.message}" for each in _validator().iter_errors(value)]


@cache
def _validator() -> jsonschema.Draft7Validator:
    schema = jobs_schema(document())
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)

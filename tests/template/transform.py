"""Prints the template as JSON, after the transform of AWS. The interpreter that has SAM runs this file.

python transform.py template.yaml '{"Parameter": "value"}'
"""

import json
import os
import sys
from pathlib import Path

import boto3
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

# Where `sam package` would have put the code; the translator takes nothing local.
_UPLOADED = "s3://bucket/key"

# The translator reads the region and the partition from here, and asks AWS nothing.
os.environ["AWS_DEFAULT_REGION"] = "eu-central-1"


def transform(path: Path, parameters: dict[str, str]) -> dict[str, object]:
    """The CloudFormation template that the SAM template stands for. Other parameters have their defaults."""
    template = yaml_parse(path.read_text(encoding="utf-8"))
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        for name in ("CodeUri", "ContentUri"):
            # The template of a package names a bucket and a key already.
            if isinstance(properties.get(name), str):
                properties[name] = _UPLOADED
    translator = Translator(None, Parser(), boto_session=boto3.Session(region_name="eu-central-1"))
    translated: dict[str, object] = translator.translate(template, parameters)
    return translated


if __name__ == "__main__":
    json.dump(transform(Path(sys.argv[1]), json.loads(sys.argv[2])), sys.stdout)

"""The JSON report is a contract."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from reports import every_report

from mtpdoctor.render import json_v1


def closed(schema: Any) -> Any:
    """Return *schema* with no room for fields that it does not list."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    if "properties" in schema and "additionalProperties" not in schema:
        made["additionalProperties"] = False
    return made


@pytest.mark.parametrize("name", every_report())
def test_every_report_fits_the_schema_and_says_nothing_else(name: str) -> None:
    document = json.loads(json_v1.dumps(every_report()[name]))

    Draft202012Validator(closed(json_v1.schema())).validate(document)


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(json_v1.schema())


def test_the_text_is_ascii_whatever_a_file_says() -> None:
    text = json_v1.dumps(every_report()["hostile"])

    assert text.isascii()
    assert "\x1b" not in text


def test_keys_and_tokens_are_masked_everywhere() -> None:
    text = json_v1.dumps(every_report()["secrets"])

    assert "s3cret" not in text
    assert "hf_abcdefghijklmnopqrstuvwxyz" not in text


def test_what_is_not_known_says_why() -> None:
    document = json_v1.document(every_report()["bare"])

    assert document["facts"]["target"] == {"unknown": "no Target was examined"}
    assert document["smoke"] is None

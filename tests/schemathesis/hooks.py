"""Hooks of schemathesis: examples of the real chain in the document, and a count of the answers.

KNOWN_VALUES names a JSON file with `parameters` and `bodies`; ANSWERS the file for the counts."""

import atexit
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import schemathesis

KNOWN = json.loads(Path(os.environ["KNOWN_VALUES"]).read_text())
METHODS = {"get", "post"}
answers: Counter[str] = Counter()


@schemathesis.hook
def before_load_schema(context, raw_schema: dict[str, Any]) -> None:
    """The examples of the document name things of no chain; those of this one reach deeper."""
    for path in raw_schema["paths"].values():
        for method, operation in path.items():
            if method in METHODS:
                _place_examples(operation)


def _place_examples(operation: dict[str, Any]) -> None:
    for parameter in operation.get("parameters", []):
        values = KNOWN["parameters"].get(parameter["name"])
        # A version may be one that is pruned; reading without it is what the other examples are for.
        if values and parameter["required"]:
            parameter.pop("example", None)
            parameter["examples"] = {
                str(number): {"value": value} for number, value in enumerate(values)
            }
        elif values:
            parameter["example"] = values[-1]
    body = KNOWN["bodies"].get(operation["operationId"])
    if body is not None:
        operation["requestBody"]["content"]["application/json"]["example"] = body


@schemathesis.hook
def after_call(context, case, response) -> None:
    answers[f"{case.operation.definition.raw['operationId']} {response.status_code}"] += 1


@atexit.register
def _write_answers() -> None:
    Path(os.environ["ANSWERS"]).write_text(json.dumps(answers, indent=1, sort_keys=True))

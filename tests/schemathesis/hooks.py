"""Hooks of schemathesis: examples of the running chain in the document, and counts of responses.

KNOWN_VALUES names a JSON file with `parameters` and `bodies`, RESPONSES the file for the counts.
"""

import atexit
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import schemathesis

KNOWN = json.loads(Path(os.environ["KNOWN_VALUES"]).read_text())
METHODS = {"get", "post"}
responses: Counter[str] = Counter()


@schemathesis.hook
def before_load_schema(context, raw_schema: dict[str, Any]) -> None:
    """Replaces the examples of the document by values of the running chain."""
    for path in raw_schema["paths"].values():
        for method, operation in path.items():
            if method in METHODS:
                _set_examples(operation)


def _set_examples(operation: dict[str, Any]) -> None:
    # The parameters that are components ask for a minimum version. A valid one above the newest
    # version is 503 by design, which the checks take for a fault of the node.
    parameters = [one for one in operation.get("parameters", []) if "$ref" not in one]
    operation["parameters"] = parameters
    for parameter in parameters:
        values = KNOWN["parameters"].get(parameter["name"])
        # A known version may be pruned, so the other examples omit an optional version.
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
    responses[f"{case.operation.definition.raw['operationId']} {response.status_code}"] += 1


@atexit.register
def _write_responses() -> None:
    Path(os.environ["RESPONSES"]).write_text(json.dumps(responses, indent=1, sort_keys=True))

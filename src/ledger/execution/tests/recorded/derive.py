"""Derives the fixture `tests/golden/recorded/writes.jsonl.zst` from a reference node's recording.

    python3 src/ledger/execution/tests/recorded/derive.py RECORDING | zstd -19 > FIXTURE

A line of RECORDING has a step of the scenario, the signed transaction, its block, and the committed
transaction in the JSON form of the interface. The fixture has what the test compares, and no text of
an abort. A resource names only the fields that differ from its last write in the fixture.
"""

import base64
import json
import sys

# Steps that need bytecode, but leave state that later steps use. The test writes this state.
PLANTED = {"publish_coin", "fa_create", "object_create"}
# Types that exist only with bytecode.
UNKNOWN = {"0x1::code::PackageRegistry"}

COIN_METADATA = "0xa"
FUNGIBLE_STORE = "0x1::fungible_asset::FungibleStore"


def main(recording):
    with open(recording, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    written = {}
    emit(genesis(rows))
    for row in rows:
        if "nodes" in row and "refused" not in outcome(row):
            emit(step(row, written))


def emit(line):
    print(json.dumps(line, separators=(",", ":"), sort_keys=True))


def genesis(rows):
    """Returns the tables that genesis creates, and the sender of the first step with its balance."""
    by_step = {row["step"]: row for row in rows}
    tables = {}
    for change in by_step["(genesis, version 0)"]["transaction"]["changes"]:
        if change["type"] == "write_resource":
            for field, value in change["data"]["data"].items():
                if isinstance(value, dict) and "handle" in value:
                    name = f"{change['address']} {change['data']['type']}.{field}"
                    tables[name] = value["handle"]
    first = by_step["fund0"]["transaction"]
    _, amounts = first["payload"]["arguments"]
    fee = int(first["gas_used"]) * int(first["gas_unit_price"])
    (after,) = [
        int(change["data"]["data"]["balance"])
        for change in first["changes"]
        if change["data"]["type"] == FUNGIBLE_STORE
        and change["data"]["data"]["balance"] != amounts[0]
    ]
    bank = {"address": first["sender"], "balance": after + sum(map(int, amounts)) + fee}
    return {"bank": bank, "tables": tables}


def outcome(row):
    return "recorded" if "transaction" in row else "refused" if "submit" in row else "omitted"


def step(row, written):
    line = {"step": row["step"]}
    # `coin::migrate_to_fungible_store` needs no bytecode, although the recording says so.
    runs = row["nodes"] == "both" or row["step"] == "migrate_apt"
    if runs:
        line["signed"] = row["signed_transaction"]
    if outcome(row) == "omitted":
        return line
    transaction = row["transaction"]
    line["time"] = row["block"]["time"]
    changes = transaction["changes"]
    if runs:
        line["status"] = status(transaction["vm_status"]) + number(row)
        line["events"] = [event(each) for each in transaction["events"]]
        if "cut" in row:
            # The fee statement is cut too.
            line["fee"] = int(transaction["gas_used"]) * int(transaction["gas_unit_price"])
    else:
        planted = planted_changes(changes) if row["step"] in PLANTED else []
        line["planted"] = [compact(each, written) for each in planted]
        # Later steps compare balances with those before them.
        changes = [each for each in changes if is_coin_store(each)]
    line["changes"] = [compact(each, written) for each in changes]
    return line


def planted_changes(changes):
    """Returns the resources that later steps use. The fee of the step is none of them."""
    fee = {each["address"] for each in changes if is_coin_store(each)} | {COIN_METADATA}
    resources = [each for each in changes if each["type"] == "write_resource"]
    return [
        each
        for each in resources
        if each["address"] not in fee and each["data"]["type"] not in UNKNOWN
    ]


def is_coin_store(change):
    if change["type"] != "write_resource" or change["data"]["type"] != FUNGIBLE_STORE:
        return False
    return change["data"]["data"]["metadata"]["inner"] == COIN_METADATA


def status(vm_status):
    """Returns the status without the text of an abort: location, name and code remain."""
    if not vm_status.startswith("Move abort in "):
        return vm_status
    return vm_status.split("): ")[0] + ")" if "): " in vm_status else vm_status


def number(row):
    """Returns the number of a status without a location, which only the BCS form has."""
    if "bcs" not in row:
        return ""
    body = base64.b64decode(row["bcs"])
    signed = base64.b64decode(row["signed_transaction"])
    # Variant of the info, gas, status: variant 4 has an optional number.
    info = body[body.index(signed) + len(signed) :]
    has_number = info[9] == 4 and info[10] == 1
    return f" {int.from_bytes(info[11:19], 'little')}" if has_number else ""


def event(each):
    assert each["guid"]["creation_number"] == "0", "an event of a stream"
    return {"type": each["type"], "data": each["data"]}


def compact(change, written):
    kind = change["type"]
    hash_prefix = change["state_key_hash"][:18]
    if kind in ("write_table_item", "delete_table_item"):
        item = {"handle": change["handle"], "key": change["key"]}
        if kind == "write_table_item":
            item["value"] = change["value"]
        return item
    if kind == "delete_resource":
        return {"address": change["address"], "type": change["resource"], "slot": hash_prefix}
    assert kind == "write_resource", kind
    tag, data = change["data"]["type"], change["data"]["data"]
    last = written.get((change["address"], tag), {})
    written[(change["address"], tag)] = data
    fields = {name: value for name, value in data.items() if last.get(name) != value}
    resource = {"address": change["address"], "type": tag, "data": fields}
    if not last:
        resource["slot"] = hash_prefix
    return resource


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Compares two lists of events of the API.

compare.py BEFORE AFTER [ID FIELD]...  fails unless exactly the given fields of the given events differ. Fields that follow from
others (times in UTC, parts of dates, the version) are not looked at.
"""

import json
import sys

FOLLOW = ("modified", "modified_utc", "utc_", "_details", "json_ld", "timezone_abbr")


def read(path):
    with open(path, encoding="utf-8") as file:
        return {str(event["id"]): event for event in json.load(file)["events"]}


def main():
    before, after = read(sys.argv[1]), read(sys.argv[2])
    wanted = set(zip(sys.argv[3::2], sys.argv[4::2]))
    if before.keys() != after.keys():
        sys.exit(f"other events: {sorted(before.keys() ^ after.keys())}")
    changed = {
        (id, field)
        for id, event in before.items()
        for field in event
        if event[field] != after[id][field] and not field.startswith(FOLLOW) and not field.endswith(FOLLOW)
    }
    untouched = [id for id in before if id not in {id for id, _ in wanted} and before[id]["modified"] != after[id]["modified"]]
    for id, field in sorted(changed - wanted):
        print(f"event {id}: {field} was {before[id][field]!r} and is {after[id][field]!r}")
    for id, field in sorted(wanted - changed):
        print(f"event {id}: {field} is still {before[id][field]!r}")
    for id in untouched:
        print(f"event {id} was written")
    sys.exit(changed != wanted or bool(untouched))


main()

"""Compares two lists of events of the API.

compare.py BEFORE AFTER [ID FIELD]...  fails unless exactly the given fields of the given events differ. Fields that follow from
others (times in UTC, parts of dates, own fields of an occurrence) are not looked at.
"""

import json
import re
import sys

FOLLOW = ("modified", "utc_", "_details", "json_ld", "timezone_abbr", "series")


def read(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"127\.0\.0\.1:\d+", "HOST", file.read())
    return {str(event["id"]): event for event in json.loads(text)["events"]}


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
        print(f"event {id}: {field} was {str(before[id][field])[:300]!r} and is {str(after[id][field])[:300]!r}")
    for id, field in sorted(wanted - changed):
        print(f"event {id}: {field} is still {before[id][field]!r}")
    for id in untouched:
        print(f"event {id} was written")
    sys.exit(changed != wanted or bool(untouched))


main()

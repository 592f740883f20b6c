"""Prints the occurrences that icalendar of Python finds in a file, as start, end and title, sorted:

    python3 occurrences.py FILE
"""

import datetime
import sys

import icalendar
from dateutil.rrule import rrulestr

UTC = datetime.timezone.utc


def form(at, last=False):
    if isinstance(at, datetime.datetime):
        return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return (at - datetime.timedelta(days=1 if last else 0)).isoformat()


def line(event, start=None):
    begin, end = event["DTSTART"].dt, event["DTEND"].dt
    if start is None:
        start = begin
    elif isinstance(start, datetime.datetime):
        # The length counts on the clock.
        zone = begin.tzinfo
        length = end.replace(tzinfo=None) - begin.replace(tzinfo=None)
        wall = start.replace(tzinfo=None)
        start, end = localized(zone, wall), localized(zone, wall + length)
    else:
        end = start + (end - begin)
    return f"{form(start)} {form(end, last=True)} {event['SUMMARY']}"


def localized(zone, wall):
    return zone.localize(wall) if hasattr(zone, "localize") else wall.replace(tzinfo=zone)


def dates(event, name):
    value = event.get(name)
    if value is None:
        return []
    lists = value if isinstance(value, list) else [value]
    return [form(d.dt) for one in lists for d in one.dts]


def occurrences(calendar):
    events = list(calendar.walk("VEVENT"))
    changed = {(str(e["UID"]), form(e["RECURRENCE-ID"].dt)): e for e in events if "RECURRENCE-ID" in e}
    for event in events:
        if "RECURRENCE-ID" in event:
            continue
        if "RRULE" not in event:
            yield line(event)
            continue
        begin = event["DTSTART"].dt
        timed = isinstance(begin, datetime.datetime)
        start = begin.replace(tzinfo=None) if timed else datetime.datetime.combine(begin, datetime.time())
        rule = event["RRULE"]
        if "UNTIL" in rule:  # on the clock, like the dates
            until = rule["UNTIL"][0]
            if isinstance(until, datetime.datetime):
                rule["UNTIL"] = [until.astimezone(begin.tzinfo).replace(tzinfo=None)]
        skipped = dates(event, "EXDATE")
        for wall in rrulestr(rule.to_ical().decode(), dtstart=start):
            at = localized(begin.tzinfo, wall) if timed else wall.date()
            if form(at) in skipped:
                continue
            other = changed.get((str(event["UID"]), form(at)))
            yield line(other) if other is not None else line(event, at)


with open(sys.argv[1], "rb") as f:
    print("\n".join(sorted(occurrences(icalendar.Calendar.from_ical(f.read())))))

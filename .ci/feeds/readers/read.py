"""Reads calendar files with icalendar and vobject, and writes what each finds beside them: python3 read.py FOLDER"""

import datetime
import pathlib
import sys

import icalendar
import vobject

UTC = datetime.timezone.utc


def one_line(text):
    return str(text or "").replace("\n", "\\n").replace("\t", " ")


def shown(time):
    if not isinstance(time, datetime.datetime):
        return time.isoformat()
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def with_icalendar(data, by_file):
    calendar = icalendar.Calendar.from_ical(data)
    zones = {str(z["TZID"]): z.to_tz() for z in calendar.walk("VTIMEZONE")}

    def time(p):
        at = p.dt
        if by_file and "TZID" in p.params:
            at = zones[p.params["TZID"]].localize(at.replace(tzinfo=None))
        return shown(at)

    for e in calendar.walk("VEVENT"):
        texts = [one_line(e.get(name)) for name in ("SUMMARY", "LOCATION", "DESCRIPTION")]
        yield "\t".join([str(e["UID"]), time(e["DTSTART"]), time(e.get("DTEND", e["DTSTART"])), *texts])


def with_vobject(data):
    for e in vobject.readOne(data.decode()).vevent_list:
        texts = [one_line(e.getChildValue(name)) for name in ("summary", "location", "description")]
        start = e.dtstart.value
        yield "\t".join([e.uid.value, shown(start), shown(e.getChildValue("dtend", start)), *texts])


def write(path, lines):
    lines = sorted((line for line in lines if ":series:" not in line), key=str.encode)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


for file in pathlib.Path(sys.argv[1]).glob("*.ics"):
    data = file.read_bytes()
    write(file.with_suffix(".tsv.icalendar"), with_icalendar(data, False))
    write(file.with_suffix(".tsv.icalendar-by-file"), with_icalendar(data, True))
    write(file.with_suffix(".tsv.vobject"), with_vobject(data))

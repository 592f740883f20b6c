"""Fetches the feeds that a program serves, and writes what its API says of the same events: python3 served.py API FOLDER

NAME.ics has the lines of NAME.tsv: UID, start, end, title, place. NAME.atom, .rss and .json have those of NAME.items: id,
title, link.
"""

import datetime
import html
import json
import pathlib
import re
import sys
import urllib.parse
import urllib.request

API, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
SITE, MOUNT = urllib.parse.urljoin(API, "/").rstrip("/"), urllib.parse.urlsplit(API).path
CANCELED = {"en": "Cancelled", "pl": "Odwołane", "es": "Cancelado"}
ALWAYS = {"start_date": "2000-01-01", "end_date": "2100-01-01"}
NEWS = {**ALWAYS, "featured": "true"}  # fewer than a feed of news has
NEWS_SIZE = 50


def fetch(address, **parameters):
    query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
    with urllib.request.urlopen(SITE + address + query) as reply:
        return reply.read()


def listed(segment, **parameters):
    """All events of a list, page by page."""
    events, pages, page = [], 1, 1
    while page <= pages:
        found = json.loads(fetch(f"{segment}{MOUNT}/events", page=page, per_page=50, **parameters))
        events, pages, page = events + found["events"], found["total_pages"], page + 1
    if len(events) != found["total"]:
        sys.exit(f"{len(events)} events are listed, the total is {found['total']}")
    return events


def uid(event):
    """The UID in the file of the event alone."""
    path = "/event/" + urllib.parse.quote(event["slug"]) + ".ics"
    return re.search(rb"\r\nUID:(.+)\r\n", fetch(path))[1].decode()


def one_line(text):
    """Plain text on one line, from HTML as representations have it."""
    return html.unescape(text).replace("\n", "\\n").replace("\t", " ")


def times(event):
    if event["all_day"]:
        after = datetime.date.fromisoformat(event["end_date"][:10]) + datetime.timedelta(days=1)
        return event["start_date"][:10], after.isoformat()
    return tuple(event[name].replace(" ", "T") + "Z" for name in ("utc_start_date", "utc_end_date"))


def place(event):
    venues = event["venue"] if isinstance(event["venue"], list) else [event["venue"]]

    def parts(v):  # a venue has no member for what is unknown
        names = "venue", "address", "zip", "city", "stateprovince", "country"
        name, address, code, city, province, country = (v.get(n, "") for n in names)
        return name, address, f"{code} {city}".strip(), province, country

    return "; ".join(", ".join(filter(None, parts(v))) for v in venues)


def write(name, lines):
    lines = sorted(("\t".join(fields) for fields in lines), key=str.encode)
    (FOLDER / name).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


uids = {e["id"]: uid(e) for e in listed("", **ALWAYS)}
for language, canceled in CANCELED.items():
    name, segment = f"served-{language}", "" if language == "en" else f"/{language}"
    (FOLDER / f"{name}.ics").write_bytes(fetch(f"{segment}/events.ics", per_page=2000, **ALWAYS))
    for kind in ("atom", "rss", "json"):
        (FOLDER / f"{name}.{kind}").write_bytes(fetch(f"{segment}/events.{kind}", **NEWS))
    lines = []
    for e in listed(segment, **ALWAYS):
        title = f"{canceled}: {e['title']}" if e["event_status"] == "canceled" else e["title"]
        lines.append((uids[e["id"]], *times(e), one_line(title), one_line(place(e))))
    write(f"{name}.tsv", lines)
    news = listed(segment, series="next", **NEWS)
    if not 0 < len(news) <= NEWS_SIZE:
        sys.exit(f"{len(news)} events are featured")
    write(f"{name}.items", (("urn:uuid:" + uids[e["id"]], one_line(e["title"]), e["url"]) for e in news))

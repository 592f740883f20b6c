#!/usr/bin/env python3
"""Exports the next month of an Almanac calendar as iCalendar or CSV. It needs the standard library only.

    python3 export.py --format csv --category music > month.csv
    python3 export.py --language pl --out month.ics

The service may ask for patience (429, 503): then it waits for as long as it is told, and tries again.
"""

import argparse
import csv
import datetime
import email.utils
import html
import html.parser
import io
import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

BASE = "http://127.0.0.1:8080/cal/events/v1"
TRIES = 5
LONGEST_WAIT = 60  # seconds; who is told to wait longer gives up


class Refused(Exception):
    """The service said no, with a code for programs and a message for people."""

    def __init__(self, status, code, message):
        super().__init__(f"{status} {code}: {message}")
        self.status, self.code = status, code


def seconds_to_wait(header, attempt, now=None):
    """The wait that Retry-After asks for, in seconds or as a date; without one, longer each time."""
    if header is None:
        return 2**attempt
    if header.strip().isdigit():
        return int(header)
    try:
        when = email.utils.parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return 2**attempt
    now = now or datetime.datetime.now(datetime.timezone.utc)
    return max(0, (when - now).total_seconds())


def fetch(url, sleep=time.sleep):
    """The JSON at an address."""
    request = urllib.request.Request(url, headers={"Accept": "application/json", "User-Agent": "almanac-export"})
    for attempt in range(TRIES):
        try:
            with urllib.request.urlopen(request, timeout=20) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            with error:
                body = error.read()
            wait = seconds_to_wait(error.headers.get("Retry-After"), attempt)
            if error.code not in (429, 503) or attempt == TRIES - 1 or wait > LONGEST_WAIT:
                raise refusal(error.code, body) from None
        sleep(wait)
    raise AssertionError("the last try returns or raises")


def refusal(status, body):
    """What a body says about an error; a proxy in between may have written something else."""
    try:
        error = json.loads(body)
        return Refused(status, error["code"], error["message"])
    except (ValueError, KeyError, TypeError):
        return Refused(status, "unknown", "no answer of the calendar")


def events(base, **filters):
    """All events that the filters let through, page by page: each page names the next."""
    query = {name: value for name, value in filters.items() if value is not None}
    url = f"{base.rstrip('/')}/events?" + urllib.parse.urlencode({**query, "per_page": 50})
    while url:
        page = fetch(url)
        yield from page["events"]
        url = page.get("next_rest_url")


def plain(title):
    """Titles and names are text that is ready for HTML."""
    return html.unescape(title)


class _Text(html.parser.HTMLParser):
    """Collects the text of HTML, a line for each paragraph."""

    def __init__(self):
        super().__init__()
        self.parts = []

    def handle_data(self, data):
        self.parts.append(data)

    def handle_endtag(self, tag):
        if tag in ("p", "li", "div", "h1", "h2", "h3", "h4"):
            self.parts.append("\n")

    def handle_startendtag(self, tag, attrs):
        if tag == "br":
            self.parts.append("\n")


def text_of(markup):
    """A description without its markup."""
    parser = _Text()
    parser.feed(markup)
    parser.close()
    return "".join(parser.parts).strip()


def place(event):
    """Name and address of the venue: there may be one, several in a list, or none, which is an empty list."""
    venues = event["venue"] if isinstance(event["venue"], list) else [event["venue"]]
    if not venues:
        return ""
    # The name is ready for HTML, the rest is as it was written.
    name = plain(venues[0].get("venue", ""))
    return ", ".join(part for part in (name, venues[0].get("address"), venues[0].get("city")) if part)


def escape(text):
    """A text as a value of iCalendar."""
    text = text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    return text.replace("\r\n", "\n").replace("\n", "\\n")


def fold(line):
    """Lines have at most 75 bytes; a longer one goes on after a space. No character is cut."""
    lines, length = [""], 0
    for character in line:
        size = len(character.encode())
        if length + size > 75:
            lines.append(" ")
            length = 1
        lines[-1] += character
        length += size
    return "\r\n".join(lines)


def stamp(utc):
    """2026-12-05 18:00:00 in UTC as iCalendar writes it."""
    return utc.replace("-", "").replace(":", "").replace(" ", "T") + "Z"


def icalendar(found):
    """The events as one calendar."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Almanac//Example export//EN"]
    for event in found:
        lines += ["BEGIN:VEVENT", f"UID:{event['global_id']}", f"DTSTAMP:{stamp(event['modified_utc'])}"]
        if event["all_day"]:
            # The end is the day after the last one.
            last = datetime.date.fromisoformat(event["end_date"][:10])
            lines.append(f"DTSTART;VALUE=DATE:{event['start_date'][:10].replace('-', '')}")
            lines.append(f"DTEND;VALUE=DATE:{last + datetime.timedelta(days=1):%Y%m%d}")
        else:
            lines.append(f"DTSTART:{stamp(event['utc_start_date'])}")
            lines.append(f"DTEND:{stamp(event['utc_end_date'])}")
        lines.append(f"SUMMARY:{escape(plain(event['title']))}")
        for name, value in (("DESCRIPTION", text_of(event["description"])), ("LOCATION", place(event))):
            if value:
                lines.append(f"{name}:{escape(value)}")
        categories = ",".join(escape(plain(one["name"])) for one in event["categories"])
        if categories:
            lines.append(f"CATEGORIES:{categories}")
        lines += [f"URL:{event['url']}", "END:VEVENT"]
    lines.append("END:VCALENDAR")
    return "".join(fold(line) + "\r\n" for line in lines)


def table(found):
    """The events as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["id", "start", "end", "timezone", "all_day", "title", "place", "cost", "categories", "url"])
    for event in found:
        row = [
            event["id"], event["start_date"], event["end_date"], event["timezone"], event["all_day"],
            plain(event["title"]), place(event), event["cost"],
            "; ".join(plain(one["name"]) for one in event["categories"]), event["url"],
        ]
        writer.writerow([harmless(cell) for cell in row])
    return out.getvalue()


def harmless(cell):
    """A cell that no spreadsheet takes for a formula."""
    if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + cell
    return cell


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Exports the next month of a calendar.")
    parser.add_argument("--base", default=BASE, help="address of the API; default %(default)s")
    parser.add_argument("--format", choices=("ics", "csv"), default="ics")
    parser.add_argument("--category", help="only events of these categories, by slug or ID, comma separated")
    parser.add_argument("--search", help="only events with this text")
    parser.add_argument("--language", choices=("en", "pl", "es"))
    parser.add_argument("--out", help="file to write; default the standard output")
    options = parser.parse_args(arguments)
    try:
        found = list(events(
            options.base, starts_after="now", starts_before="+1 month", strict_dates="true",
            categories=options.category, search=options.search, ml_language=options.language,
        ))
    except (Refused, OSError) as error:
        print(f"export: {error}", file=sys.stderr)
        return 1
    document = icalendar(found) if options.format == "ics" else table(found)
    if options.out:
        with open(options.out, "w", encoding="utf-8", newline="") as file:
            file.write(document)
    else:
        sys.stdout.buffer.write(document.encode())
    print(f"{len(found)} events", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

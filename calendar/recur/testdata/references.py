"""Writes random recurrence rules with the starts that python-dateutil finds. See README.md."""

import datetime as clock
import random
from datetime import datetime, timedelta

from dateutil.rrule import rrulestr

RULES = 2000
YEARLY_RULES = 500  # rules with BYWEEKNO or BYYEARDAY
YEARS = 12  # starts are listed up to this long after the first day of the rule
STARTS = 40  # and at most so many

DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]


def signed(r, most):
    return r.choice([1, 1, 1, -1]) * r.randint(1, most)


def some(r, draw, most):
    return ",".join(sorted({str(draw()) for _ in range(r.randint(1, most))}))


def rule(r, start):
    """Returns a rule of our grammar without the shapes on which libraries disagree: weekdays with and without
    ordinal in one BYDAY, and BYSETPOS in a weekly rule. SKIP is unknown to dateutil."""
    freq = r.choice(["DAILY", "WEEKLY", "MONTHLY", "MONTHLY", "YEARLY", "YEARLY"])
    parts = {"FREQ": freq}
    if r.random() < 0.5:
        parts["INTERVAL"] = r.choice([2, 2, 3, 4, 5, 6, 7, 13, 30])
    end = r.random()
    if end < 0.25:
        parts["COUNT"] = r.randint(1, 60)
    elif end < 0.5:
        until = start + timedelta(days=r.randint(0, 4000), seconds=r.choice([-1, 0, 1]))
        parts["UNTIL"] = until.strftime(r.choice(["%Y%m%d", "%Y%m%dT%H%M%S"]))
    if r.random() < 0.35:
        parts["BYMONTH"] = some(r, lambda: r.randint(1, 12), 4)
    if freq != "WEEKLY" and r.random() < 0.4:
        parts["BYMONTHDAY"] = some(r, lambda: signed(r, 31), 5)
    if r.random() < 0.55:
        most = 0
        if freq == "MONTHLY" or freq == "YEARLY" and "BYMONTH" in parts:
            most = 5
        elif freq == "YEARLY":
            most = 53
        if most and r.random() < 0.5:
            parts["BYDAY"] = some(r, lambda: str(signed(r, most)) + r.choice(DAYS), 4)
        else:
            parts["BYDAY"] = some(r, lambda: r.choice(DAYS), 4)
    if freq != "WEEKLY" and any(k.startswith("BY") for k in parts) and r.random() < 0.3:
        most = {"DAILY": 1, "MONTHLY": 8, "YEARLY": 40}[freq]
        parts["BYSETPOS"] = some(r, lambda: signed(r, most), 3)
    if r.random() < 0.3:
        parts["WKST"] = r.choice(DAYS)
    names = list(parts)
    r.shuffle(names)
    return ";".join(f"{k}={parts[k]}" for k in names)


def yearly_rule(r, start):
    """Returns a yearly rule with BYWEEKNO or BYYEARDAY, or both. Weeks that two years share are left out: dateutil has
    not all of their numbers. It also has no weekday of the start for BYWEEKNO, so the rule names weekdays."""
    parts = {"FREQ": "YEARLY"}
    if r.random() < 0.4:
        parts["INTERVAL"] = r.choice([2, 3, 4])
    if r.random() < 0.3:
        parts["COUNT"] = r.randint(1, 60)
    weeks, days = r.choice([(True, False), (False, True), (True, True)])
    if weeks:
        parts["BYWEEKNO"] = some(r, lambda: r.choice([1, 1, 1, -1]) * r.randint(2, 50), 40 if days else 4)
    if days:
        parts["BYYEARDAY"] = some(r, lambda: r.choice([1, 1, -1]) * r.choice([r.randint(1, 366), 60, 366]), 9)
    if r.random() < 0.3:
        parts["BYMONTH"] = some(r, lambda: r.randint(1, 12), 8)
    if r.random() < 0.2:
        parts["BYMONTHDAY"] = some(r, lambda: signed(r, 31), 12)
    if weeks or r.random() < 0.4:
        parts["BYDAY"] = some(r, lambda: r.choice(DAYS), 6)
    if r.random() < 0.2:
        parts["BYSETPOS"] = some(r, lambda: signed(r, 6), 3)
    if r.random() < 0.5:
        parts["WKST"] = r.choice(DAYS)
    names = list(parts)
    r.shuffle(names)
    return ";".join(f"{k}={parts[k]}" for k in names)


def reading(text):
    """Returns the rule as dateutil has to read it: a day in UNTIL is midnight to it, and the whole day to us."""
    parts = dict(p.split("=") for p in text.split(";"))
    if len(parts.get("UNTIL", "")) == 8:
        parts["UNTIL"] += "T235959"
    return ";".join(f"{k}={v}" for k, v in parts.items())


def starts(text, start):
    last = start.replace(year=start.year + YEARS, day=1)
    found = []
    for t in rrulestr(reading(text), dtstart=start):
        if t > last or len(found) == STARTS:
            break
        found.append(t)
    return found


def write(r, rule_of):
    start = datetime(2020, 1, 1) + timedelta(
        days=r.randint(0, 3000), hours=r.randint(0, 23), minutes=r.choice([0, 30]))
    text = rule_of(r, start)
    days, previous = [], start
    for t in starts(text, start):
        days.append(str((t - previous).days))
        previous = t
    print(start.strftime("%Y-%m-%d %H:%M:%S"), text, " ".join(days), sep="\t")


def main():
    clock.MAXYEAR = 2050  # where dateutil stops to search: sparse and impossible rules would take it minutes
    r = random.Random(20)
    for _ in range(RULES):
        write(r, rule)
    for _ in range(YEARLY_RULES):
        write(r, yearly_rule)


if __name__ == "__main__":
    main()

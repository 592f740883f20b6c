"""python3 -m unittest: what the export does with answers that a demo does not give."""

import datetime
import http.server
import json
import threading
import unittest

import export


class Service(http.server.BaseHTTPRequestHandler):
    """Answers what is planned for it, in turn."""

    def do_GET(self):
        status, headers, body = self.server.plan.pop(0)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        """Say nothing."""


class Fetch(unittest.TestCase):
    def setUp(self):
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Service)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.waits = []

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()

    def fetch(self, *plan):
        self.server.plan = list(plan)
        return export.fetch(self.url, sleep=self.waits.append)

    def refused(self, *plan):
        with self.assertRaises(export.Refused) as caught:
            self.fetch(*plan)
        return caught.exception

    def test_it_waits_for_as_long_as_it_is_told(self):
        got = self.fetch((429, {"Retry-After": "7"}, "{}"), (503, {"Retry-After": "5"}, "{}"), (200, {}, '{"a": 1}'))
        self.assertEqual((got, self.waits), ({"a": 1}, [7, 5]))

    def test_it_waits_longer_each_time_when_it_is_not_told(self):
        self.fetch((503, {}, ""), (503, {}, ""), (200, {}, "{}"))
        self.assertEqual(self.waits, [1, 2])

    def test_it_gives_up(self):
        self.assertEqual(self.refused(*[(503, {"Retry-After": "1"}, "")] * export.TRIES).status, 503)
        self.assertEqual(len(self.waits), export.TRIES - 1)

    def test_it_does_not_wait_for_an_hour(self):
        self.refused((429, {"Retry-After": "3600"}, "{}"))
        self.assertEqual(self.waits, [])

    def test_other_errors_are_final(self):
        body = json.dumps({"code": "rest_invalid_param", "message": "No.", "data": {"status": 400}})
        self.assertEqual(str(self.refused((400, {}, body))), "400 rest_invalid_param: No.")

    def test_a_date_to_wait_for(self):
        now = datetime.datetime(2026, 12, 5, 18, 0, tzinfo=datetime.timezone.utc)
        self.assertEqual(export.seconds_to_wait("Sat, 05 Dec 2026 18:00:30 GMT", 0, now), 30)
        self.assertEqual(export.seconds_to_wait("Sat, 05 Dec 2026 17:00:00 GMT", 0, now), 0)
        self.assertEqual(export.seconds_to_wait("soon", 3, now), 8)


class Documents(unittest.TestCase):
    EVENT = {
        "id": 15, "global_id": "example.org?id=15", "modified_utc": "2026-11-20 10:00:00", "all_day": True,
        "start_date": "2026-12-31 00:00:00", "end_date": "2026-12-31 23:59:59", "timezone": "Europe/Warsaw",
        "title": "Żółć &amp; more; a, b", "description": "<p>One<br/>two</p><p>three &lt;3</p>", "cost": "=1+1",
        "categories": [{"name": "Rock &amp; Roll"}], "venue": [], "url": "https://example.org/event/15/",
    }

    def test_icalendar(self):
        lines = export.icalendar([self.EVENT]).split("\r\n")
        for want in (
            "DTSTART;VALUE=DATE:20261231", "DTEND;VALUE=DATE:20270101", "SUMMARY:Żółć & more\\; a\\, b",
            "DESCRIPTION:One\\ntwo\\nthree <3", "CATEGORIES:Rock & Roll", "DTSTAMP:20261120T100000Z",
        ):
            self.assertIn(want, lines)
        self.assertNotIn("LOCATION", "".join(lines))

    def test_long_lines_are_folded_between_characters(self):
        text = "DESCRIPTION:" + "ąść" * 60
        folded = export.fold(text)
        self.assertLessEqual(max(len(line.encode()) for line in folded.split("\r\n")), 75)
        self.assertEqual(folded.replace("\r\n ", ""), text)

    def test_no_cell_is_a_formula(self):
        self.assertIn(",'=1+1,", export.table([self.EVENT]))


if __name__ == "__main__":
    unittest.main()

/* Reads a calendar file with libical, checks the restrictions of RFC 5545, and prints what it finds: libical FILE */
#include <libical/ical.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *next_line(char *line, size_t size, void *file) { return fgets(line, (int)size, file); }

static void print_text(const char *text)
{
	putchar('\t');
	for (; text != NULL && *text != '\0'; text++) {
		if (*text == '\n')
			fputs("\\n", stdout);
		else
			putchar(*text == '\t' ? ' ' : *text);
	}
}

static void print_time(struct icaltimetype at)
{
	if (at.is_date) {
		printf("\t%04d-%02d-%02d", at.year, at.month, at.day);
		return;
	}
	char text[32];
	time_t seconds = icaltime_as_timet_with_zone(at, at.zone);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&seconds));
	printf("\t%s", text);
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
	if (file == NULL) {
		fprintf(stderr, "usage: libical FILE\n");
		return 2;
	}
	icalparser *parser = icalparser_new();
	icalparser_set_gen_data(parser, file);
	icalcomponent *calendar = icalparser_parse(parser, next_line);
	int errors = calendar == NULL ? 1 : icalcomponent_count_errors(calendar);
	if (errors != 0 || !icalrestriction_check(calendar) || icalcomponent_count_errors(calendar) != 0) {
		fprintf(stderr, "%s: %d errors\n%s\n", argv[1], errors, calendar == NULL ? "" : icalcomponent_as_ical_string(calendar));
		return 1;
	}
	for (icalcomponent *e = icalcomponent_get_first_component(calendar, ICAL_VEVENT_COMPONENT); e != NULL;
	     e = icalcomponent_get_next_component(calendar, ICAL_VEVENT_COMPONENT)) {
		if (strstr(icalcomponent_get_uid(e), ":series:") != NULL)
			continue;
		fputs(icalcomponent_get_uid(e), stdout);
		print_time(icalcomponent_get_dtstart(e));
		print_time(icalcomponent_get_dtend(e));
		print_text(icalcomponent_get_summary(e));
		print_text(icalcomponent_get_location(e));
		print_text(icalcomponent_get_description(e));
		putchar('\n');
	}
	return 0;
}

#!/usr/bin/env bash
# Adds an event to an Almanac calendar, with curl and nothing else:
#
#   export ALMANAC_TOKEN=alm_…
#   ./add-event.sh 'Open stage' 'next friday 7pm' 'next friday 10pm' cost='5 €' categories=Music 'venue[venue]=Old Mill'
#   ./add-event.sh --delete 271
#
# After title, start and end come any fields of an event, as name=value. It prints the ID of the event and its
# address. ALMANAC_BASE is the address of the API, http://127.0.0.1:8080/cal/events/v1 unless it is set.
set -euo pipefail

base=${ALMANAC_BASE:-http://127.0.0.1:8080/cal/events/v1}
base=${base%/}

usage() {
	sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
	exit 2
}

# call ARGUMENT... sends a request; body is the reply then. It fails with the service's own words. The token goes
# through a file that curl alone reads: arguments can be seen by all who may list processes.
call() {
	local reply status
	reply=$(curl --silent --show-error --max-time 20 --header @<(printf 'Authorization: Bearer %s\n' "$ALMANAC_TOKEN") \
		--write-out '\n%{http_code}' "$@")
	status=${reply##*$'\n'}
	body=${reply%$'\n'*}
	if [ "$status" -ge 400 ]; then
		printf 'refused (%s): %s\n' "$status" "$(text code) $(text message)" >&2
		return 1
	fi
}

# text NAME prints the first member of the reply that has the name and is a string. It is enough for codes, messages
# and addresses; use a JSON parser for more.
text() {
	local pattern="\"$1\":\"(([^\"\\]|\\\\.)*)\""
	if [[ $body =~ $pattern ]]; then sed -E 's/\\(["\\/])/\1/g' <<<"${BASH_REMATCH[1]}"; fi
}

[ -n "${ALMANAC_TOKEN:-}" ] || {
	echo "ALMANAC_TOKEN is not set: the demo prints one" >&2
	usage
}

if [ "${1:-}" = --delete ] && [ $# = 2 ]; then
	call --request DELETE "$base/events/$2?_fields=status"
	echo "event $2: $(text status)"
	exit
fi

[ $# -ge 3 ] || usage
fields=(--data-urlencode "title=$1" --data-urlencode "start_date=$2" --data-urlencode "end_date=$3")
shift 3
for field in "$@"; do
	case $field in
	?*=*) fields+=(--data-urlencode "$field") ;;
	*) usage ;;
	esac
done

call "${fields[@]}" "$base/events?_fields=id,url"
id=$(sed -n 's/.*"id":\([0-9]*\).*/\1/p' <<<"$body")
[ -n "$id" ] || {
	echo "no event in the reply: $body" >&2
	exit 1
}
printf '%s %s\n' "$id" "$(text url)"

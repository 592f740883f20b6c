# shellcheck shell=bash
# Sourced by scripts beside it: a demo to ask, and what they need. ask_demo sets url and token.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/almanac-${0##*/}.XXXXXX")
export PATH=$PATH:/usr/local/go/bin
# Nothing that is set outside may change what is served.
for name in "${!ALMANAC_@}"; do unset "$name"; done
demo_pid=

finish() {
	local status=$?
	trap - EXIT INT TERM
	if [ -n "$demo_pid" ]; then
		kill -INT "$demo_pid" 2>/dev/null || true
		wait "$demo_pid" 2>/dev/null || true
	fi
	rm -rf "$tmp"
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# shellcheck source-path=SCRIPTDIR source=tools.sh
. "$root/.ci/tools.sh"

# ask_demo [URL TOKEN] takes the demo it is told, or starts one of its own. That chooses a free port, so url is what it prints.
ask_demo() {
	local api
	if [ $# -ge 2 ]; then
		url=${1%/} token=$2
		return
	fi
	go build -C "$root" -o "$tmp/almanac" ./cmd/almanac
	: >"$tmp/demo.out" # the loop below may read it before the background process has opened it
	"$tmp/almanac" demo --listen 127.0.0.1:0 >"$tmp/demo.out" 2>"$tmp/demo.err" &
	demo_pid=$!
	for _ in $(seq 600); do
		if grep -q '^Login demo, token ' "$tmp/demo.out"; then break; fi
		kill -0 "$demo_pid" 2>/dev/null || break
		sleep 0.2
	done
	token=$(sed -n 's/^Login demo, token //p' "$tmp/demo.out")
	api=$(sed -n "s|.*'\(http[^']*\)/events'.*|\1|p" "$tmp/demo.out" | head -n 1)
	if [ -z "$token" ] || [ -z "$api" ]; then
		cat "$tmp/demo.out" "$tmp/demo.err"
		fail "the demo did not start"
	fi
	url=$api
	curl -fsS --retry 20 --retry-connrefused --retry-delay 1 -o /dev/null "$url/events?per_page=1"
	echo "a demo on $url"
}

# served DATABASE answers a database while a command runs, whose last argument is the address of the API.
served() {
	local database=$1 port=$((20000 + RANDOM % 12000)) status=0
	shift
	"$tmp/almanac" serve --db "sqlite://$database" --media "$tmp/media" --listen "127.0.0.1:$port" >"$tmp/serve.log" 2>&1 &
	demo_pid=$!
	curl -fs --retry 50 --retry-connrefused --retry-delay 1 -o /dev/null "http://127.0.0.1:$port/healthz" || status=$?
	if [ "$status" = 0 ]; then "$@" "http://127.0.0.1:$port/cal/events/v1" || status=$?; fi
	kill -INT "$demo_pid"
	wait "$demo_pid" || true
	demo_pid=
	if [ "$status" != 0 ]; then cat "$tmp/serve.log"; fi
	return "$status"
}

# shellcheck shell=bash
# Sourced by scripts beside it: a demo to ask, and what they need. ask_demo sets url and token.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/almanac-${0##*/}.XXXXXX")
export PATH=$PATH:/usr/local/go/bin
unset ALMANAC_TOKEN ALMANAC_BASE
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

has() { command -v "$1" >/dev/null 2>&1; }

fail() {
	printf '%s\n' "$*" >&2
	return 1
}

# part TITLE COMMAND... says what runs, and how long it took.
part() {
	local began=$SECONDS title=$1
	shift
	printf -- '-- %s\n' "$title"
	"$@"
	printf -- '-- %s: %d s\n' "$title" $((SECONDS - began))
}

# ask_demo [URL TOKEN] takes the demo it is told, or starts one of its own. That chooses a free port, so url is what it prints.
ask_demo() {
	local api line
	if [ $# -ge 2 ]; then
		url=${1%/} token=$2
		return
	fi
	go build -C "$root" -o "$tmp/almanac" ./cmd/almanac
	# Nothing that is set outside may change what is served.
	for line in "${!ALMANAC_@}"; do unset "$line"; done
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

# no_npm says why packages cannot be installed; it fails where they can.
no_npm() {
	if ! has npm || ! has node; then
		echo "this machine has no Node"
	elif [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
		echo "Node $(node --version) is too old"
	elif ! npm ping --fetch-retries=0 --fetch-timeout=10000 >/dev/null 2>&1; then
		echo "no package registry answers"
	else
		return 1
	fi
}

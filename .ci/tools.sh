# shellcheck shell=bash
# Sourced by scripts beside it, which set tmp: what the machine has, and what can be installed.

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

# debian PACKAGE... installs packages of Debian, where that is possible.
debian() {
	has apt-get && [ "$(id -u)" = 0 ] || return 1
	{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@"; } >"$tmp/apt.log" 2>&1 || {
		cat "$tmp/apt.log"
		return 1
	}
}

# find_chromium [yes] sets CHROMIUM. With yes, it installs one if there is none.
find_chromium() {
	local name
	for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
		if CHROMIUM=$(command -v "${name:-none}"); then
			export CHROMIUM
			return
		fi
	done
	[ -n "${1:-}" ] && debian chromium && find_chromium
}

# new_node fails, and says why, where there is no Node that is new enough.
new_node() {
	if ! has npm || ! has node; then
		echo "this machine has no Node"
		return 1
	fi
	[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || { echo "Node $(node --version) is too old" && return 1; }
}

# no_npm says why packages cannot be installed; it fails where they can.
no_npm() {
	if ! new_node; then
		return
	elif ! npm ping --fetch-retries=0 --fetch-timeout=10000 >/dev/null 2>&1; then
		echo "no package registry answers"
	else
		return 1
	fi
}

# npm_ci FILE... copies a lock file, package.json and more to $tmp/npm, and installs the packages. Nothing of them runs meanwhile.
npm_ci() {
	mkdir "$tmp/npm"
	cp "$@" "$tmp/npm/"
	(cd "$tmp/npm" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
}

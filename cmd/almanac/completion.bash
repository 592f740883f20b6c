# Completion of almanac in bash. Load it with: source <(almanac completion bash)
_almanac() {
	local IFS=$'\n'
	COMPREPLY=($("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _almanac almanac

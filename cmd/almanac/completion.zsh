#compdef almanac
# Completion of almanac in zsh. Load it with: source <(almanac completion zsh)
_almanac() {
	local -a found
	found=("${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	found=("${(@)found:#}")
	if compset -P '--*='; then :; fi
	if ((${#found})); then compadd -a found; else _files; fi
}
compdef _almanac almanac

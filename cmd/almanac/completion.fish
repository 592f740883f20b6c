# Completion of almanac in fish. Load it with: almanac completion fish | source
function __almanac_complete
	set -l words (commandline -opc) (commandline -ct)
	set -l last $words[-1]
	for word in (almanac complete -- $words[2..-1] 2>/dev/null)
		# A value is completed together with its flag.
		if string match -q -- '--*=*' $last
			echo (string replace -r -- '=.*' '=' $last)$word
		else
			echo $word
		end
	end
end
complete -c almanac -a '(__almanac_complete)'

package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// allowedLicences are the licences that linked modules may have. Most only require their text. The Mozilla
// licence requires the source of its own files, which Almanac does not change.
var allowedLicences = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "Unicode-3.0", "Unicode-DFS-2016", "Unlicense", "CC0-1.0", "blessing"}

// reviewedLicences are texts that a person has reviewed, because they combine several licences or are rare. The
// key is the start of the SHA-256. A changed text needs a new review.
var reviewedLicences = map[string][]string{
	"59e80949c149": {"MIT", "Apache-2.0", "Unicode-DFS-2016"}, // textseg: itself, its generators, Unicode's tables
	"fab3dd6bdab2": {"MPL-2.0"},                               // MySQL driver
	"28ca54ff46a2": {"MPL-2.0"},                               // HCL
	"0d9e582ee4bf": {"BSD-3-Clause", "Apache-2.0", "MIT"},     // compress: itself, gzhttp, s2 commands
	"a94710b55e03": {"MIT"},                                   // libyaml, which go-cty-yaml was ported from
	"d18f6323b71b": {"MIT", "Apache-2.0"},                     // yaml: the ported files, and the others
	"f597097efe3d": {"BSD-3-Clause", "MIT", "BSD-2-Clause"},   // libc: Go, musl, go-netdb, nixpkgs
	"5ae5bee3072a": nil,                                       // memory: where the logo of its page is from
	"b4366b9c27a9": {"BSD-3-Clause", "MIT", "blessing"},       // sqlite, whose linked part comes first; its tests have the rest
	"8438c9c89b84": {"blessing"},                              // SQLite
	"73ba74dfaa52": {"Apache-2.0"},                            // go-systemd: the usual text without the letters of two lists
}

// recognise returns the names of the licences that a text consists of. It ignores the names of copyright holders. If
// other text is left, it returns an error.
func recognise(text string) ([]string, error) {
	sum := sha256.Sum256([]byte(text))
	key := hex.EncodeToString(sum[:])[:12]
	if found, ok := reviewedLicences[key]; ok {
		return found, nil
	}
	rest := words(text)
	var found []string
	for rest != "" {
		rest = strings.TrimSpace(licenceTitles.ReplaceAllString(rest, ""))
		name := ""
		for _, l := range wordings {
			if at := l.body.FindStringIndex(rest); at != nil {
				name, rest = l.name, strings.TrimSpace(rest[at[1]:])
				break
			}
		}
		if name == "" && rest != "" {
			return nil, fmt.Errorf("unknown wording (%s): %.120q", key, rest)
		}
		if name != "" {
			found = append(found, name)
		}
	}
	return found, nil
}

var (
	copyrightLines = regexp.MustCompile(`(?im)^\W*(copyright\s*(\(c\)|©|[0-9]{4}|\[|\{|the ).*|©.*|\(c\) .*|all rights reserved\.?)$`)
	noWord         = regexp.MustCompile(`[^a-z0-9]+`)
	licenceTitles  = regexp.MustCompile(`^(?:(?:the )?(?:mit|isc|bsd|apache|new bsd|bsd [23] clause) )?licen[sc]e(?: mit| expat)?(?: |$)|^http www opensource org licenses mit license php(?: |$)`)
)

// words returns a text in lower case with one space between words, without the lines of copyright holders.
func words(text string) string {
	return strings.TrimSpace(noWord.ReplaceAllString(strings.ToLower(copyrightLines.ReplaceAllString(text, "")), " "))
}

//go:embed apache-2.0.txt
var apache string

// wording is the name of a licence with the pattern of its words.
type wording struct {
	name string
	body *regexp.Regexp
}

const (
	bsdGrant = `redistribution and use in source and binary forms with or without modification are permitted provided that the ` +
		`following conditions are met (?:1 )?redistributions of source code must retain the above copyright notice this list of ` +
		`conditions and the following disclaimer (?:2 )?redistributions in binary form must reproduce the above copyright notice ` +
		`this list of conditions and the following disclaimer in the documentation and or other materials provided with the distribution `
	bsdNames = `(?:3 )?neither the names? of (?:[a-z0-9]+ ){1,10}nor the names of (?:its |the )?(?:[a-z]+ )?(?:authors or )?contributors may be used to ` +
		`endorse or promote products derived from this software without specific prior written permission `
	bsdEnd = `this software is provided by (?:the copyright holders and contributors|[a-z0-9 ]{1,60}) as is and any express or implied warranties ` +
		`including but not limited to the implied warranties of merchantability and fitness for a particular purpose are disclaimed ` +
		`in no event shall (?:the copyright (?:owner|holder|holders)(?: or contributors)?|[a-z0-9 ]{1,60}) be liable for any direct indirect incidental special ` +
		`exemplary or consequential damages including but not limited to procurement of substitute goods or services loss of use ` +
		`data or profits or business interruption however caused and on any theory of liability whether in contract strict ` +
		`liability or tort including negligence or otherwise arising in any way out of the use of this software even if advised ` +
		`of the possibility of such damage`
	mit = `permission is hereby granted free of charge to any person obtaining a copy of this software and associated ` +
		`documentation files the software to deal in the software without restriction including without limitation the rights to ` +
		`use copy modify merge publish distribute sublicense and or sell copies of the software and to permit persons to whom the ` +
		`software is furnished to do so subject to the following conditions the above copyright notice and this permission notice ` +
		`shall be included in all copies or substantial portions of the software the software is provided as is without warranty ` +
		`of any kind express or implied including but not limited to the warranties of merchantability fitness for a particular ` +
		`purpose and noninfringement in no event shall the authors or copyright holders be liable for any claim damages or other ` +
		`liability whether in an action of contract tort or otherwise arising from out of or in connection with the software or ` +
		`the use or other dealings in the software`
	isc = `permission to use copy modify and or distribute this software for any purpose with or without fee is hereby granted ` +
		`provided that the above copyright notice and this permission notice appear in all copies the software is provided as is ` +
		`and the author disclaims all warranties with regard to this software including all implied warranties of merchantability ` +
		`and fitness in no event shall the author be liable for any special direct indirect or consequential damages or any damages ` +
		`whatsoever resulting from loss of use data or profits whether in an action of contract negligence or other tortious action ` +
		`arising out of or in connection with the use or performance of this software`
)

var wordings = []wording{
	{"MIT", regexp.MustCompile(`^` + mit)},
	{"ISC", regexp.MustCompile(`^` + isc)},
	{"BSD-3-Clause", regexp.MustCompile(`^` + bsdGrant + bsdNames + bsdEnd)},
	{"BSD-2-Clause", regexp.MustCompile(`^` + bsdGrant + bsdEnd)},
	{"Apache-2.0", apacheWording()},
}

// apacheWording returns the pattern of the Apache licence, with or without its appendix.
func apacheWording() *regexp.Regexp {
	const end = " end of terms and conditions"
	terms, appendix, _ := strings.Cut(words(apache), end)
	terms = strings.Replace(strings.TrimPrefix(terms, "apache license "), " http www", " https? www", 1)
	appendix = strings.Replace(appendix, " http www", " https? www", 1)
	return regexp.MustCompile(`^(?:` + terms + `)(?:` + end + `)?(?:` + appendix + `)?`)
}

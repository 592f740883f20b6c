package auth

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = "alm_0123456789abcdefghijklmnopqrstuvwxyzABC-_EF"

func inBasic(plain string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(plain))
}

func TestParseHeader(t *testing.T) {
	tests := []struct {
		name, header string
		want         credential
		why          error
	}{
		{"empty", "", credential{}, nil},
		{"blank", " \t ", credential{}, nil},
		{"password", inBasic("ewa:correct horse"), credential{scheme: basic, login: "ewa", secret: "correct horse"}, nil},
		{"scheme in lower case", "basic ZXdhOmE=", credential{scheme: basic, login: "ewa", secret: "a"}, nil},
		{"scheme in upper case", "BASIC ZXdhOmE=", credential{scheme: basic, login: "ewa", secret: "a"}, nil},
		{"several spaces", "Basic   ZXdhOmE=  ", credential{scheme: basic, login: "ewa", secret: "a"}, nil},
		{"without padding", "Basic ZXdhOmE", credential{scheme: basic, login: "ewa", secret: "a"}, nil},
		{"half the padding", "Basic ZXdhOmFiYw=", credential{scheme: basic, login: "ewa", secret: "abc"}, nil},
		{"login in upper case", inBasic("EWA@B.org:a"), credential{scheme: basic, login: "ewa@b.org", secret: "a"}, nil},
		{"colons in the password", inBasic("ewa:a:b:"), credential{scheme: basic, login: "ewa", secret: "a:b:"}, nil},
		{"spaces around the password stay", inBasic("ewa: a "), credential{scheme: basic, login: "ewa", secret: " a "}, nil},
		{"password in UTF-8", inBasic("ewa:gęś"), credential{scheme: basic, login: "ewa", secret: "gęś"}, nil},
		{"token as secret", inBasic("ewa:" + sample), credential{scheme: basic, login: "ewa", secret: sample, token: true}, nil},
		{
			"token as secret with spaces", inBasic("ewa: alm_ " + sample[4:20] + " " + sample[20:] + " "),
			credential{scheme: basic, login: "ewa", secret: sample, token: true},
			nil,
		},
		{
			"almost a token is a password", inBasic("ewa:" + sample[1:]),
			credential{scheme: basic, login: "ewa", secret: sample[1:]},
			nil,
		},

		{"basic without credentials", "Basic", credential{scheme: basic}, malformedHeader},
		{"basic without colon", inBasic("ewa"), credential{scheme: basic}, malformedHeader},
		{"basic without login", inBasic(":a"), credential{scheme: basic}, malformedHeader},
		{"basic without secret", inBasic("ewa:"), credential{scheme: basic}, malformedHeader},
		{"login with a space", inBasic("ewa :a"), credential{scheme: basic}, malformedHeader},
		{"login with an accent", inBasic("éwa:a"), credential{scheme: basic}, malformedHeader},
		{"login with the Kelvin sign", inBasic("\u212A:a"), credential{scheme: basic}, malformedHeader},
		{"login of 101 characters", inBasic(strings.Repeat("a", 101) + ":a"), credential{scheme: basic}, malformedHeader},
		{"secret with a control character", inBasic("ewa:a\x00"), credential{scheme: basic}, malformedHeader},
		{"secret in Latin-1", inBasic("ewa:g\xea"), credential{scheme: basic}, malformedHeader},
		{"not base64", "Basic ewa:a", credential{scheme: basic}, malformedHeader},
		{"base64 for URLs", "Basic ZXdhOj8-Pw", credential{scheme: basic}, malformedHeader},
		{"too much padding", "Basic ZXdhOmE==", credential{scheme: basic}, malformedHeader},
		{"padding where none belongs", "Basic ZXdhOmFi=", credential{scheme: basic}, malformedHeader},
		{"line break inside", "Basic ZXdh\nOmE=", credential{scheme: basic}, malformedHeader},
		{"two parts", "Basic ZXdh OmE=", credential{scheme: basic}, malformedHeader},
		{"bits behind the end", "Basic ZXdhOmF=", credential{scheme: basic}, malformedHeader},
		{"long", inBasic("ewa:" + strings.Repeat("a", 4096)), credential{scheme: basic}, headerTooLong},

		{"token", "Bearer " + sample, credential{scheme: bearer, secret: sample, token: true}, nil},
		{"bearer in lower case", "bearer " + sample, credential{scheme: bearer, secret: sample, token: true}, nil},
		{
			"token with spaces", "Bearer " + sample[:10] + " " + sample[10:],
			credential{scheme: bearer, secret: sample, token: true},
			nil,
		},
		{"bearer without token", "Bearer", credential{scheme: bearer}, notAToken},
		{"token cut short", "Bearer " + sample[:46], credential{scheme: bearer}, notAToken},
		{"token too long", "Bearer " + sample + "x", credential{scheme: bearer}, notAToken},
		{"token with a foreign character", "Bearer " + sample[:46] + "+", credential{scheme: bearer}, notAToken},
		{"token without prefix", "Bearer " + strings.Repeat("a", 47), credential{scheme: bearer}, notAToken},
		{"token alone", sample, credential{scheme: bearer}, unsupportedScheme},
		{"other scheme", `Digest username="ewa"`, credential{scheme: bearer}, unsupportedScheme},
		{"tab", "Bearer\t" + sample, credential{scheme: bearer, secret: sample, token: true}, nil},
		{"long token", "Bearer " + strings.Repeat("a", 4096), credential{scheme: bearer}, headerTooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseHeader(tt.header)
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(credential{})); diff != "" {
				t.Error(diff)
			}
			if !errors.Is(err, tt.why) {
				t.Errorf("got %v, want %v", err, tt.why)
			}
		})
	}
}

func TestCodesOfRefusals(t *testing.T) {
	for s, want := range map[scheme]string{basic: "incorrect_password", bearer: "rest_invalid_token"} {
		got := s.refused(wrongPair)
		if got.Code != want || got.Key != want {
			t.Errorf("got code %q, key %q, want %q", got.Code, got.Key, want)
		}
		if !errors.Is(got, wrongPair) {
			t.Errorf("%s does not carry its cause", want)
		}
	}
}

func FuzzParseHeader(f *testing.F) {
	for _, header := range []string{
		"", "Basic ZXdhOmE=", "basic ZXdhOmE", "Bearer " + sample, "Bearer alm_ 0", "Basic ====", "Digest x", "Basic\tOg==",
		inBasic("ewa:" + sample), inBasic("Ewa:a b:c"), "Basic ZXdh\r\nOmE=",
	} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		c, err := parseHeader(header)
		if err != nil {
			var why refusal
			if !errors.As(err, &why) || c.scheme == noScheme || c.secret != "" || c.login != "" {
				t.Fatalf("%q: %+v with error %v", header, c, err)
			}
			return
		}
		// What was understood, written plainly, is understood in the same way.
		plain := ""
		switch c.scheme {
		case noScheme:
			if strings.Trim(header, " \t") != "" {
				t.Fatalf("%q is anonymous", header)
			}
		case basic:
			plain = inBasic(c.login + ":" + c.secret)
		case bearer:
			plain = "Bearer " + c.secret
		}
		if c.token != isToken(c.secret) || (c.scheme != noScheme && c.secret == "") {
			t.Fatalf("%q: %+v", header, c)
		}
		if len(plain) > maxHeader { // the padding that was left out
			return
		}
		again, err := parseHeader(plain)
		if err != nil || again != c {
			t.Fatalf("%q is %+v, %q is %+v (%v)", header, c, plain, again, err)
		}
	})
}

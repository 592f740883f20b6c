package markup

import (
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/almanac-cal/almanac/proof/must"
)

func TestHTML(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty stays empty", "", ""},
		{"text stays", `Director’s "quoted" it's – zażółć`, `Director’s "quoted" it's – zażółć`},
		{"quotes beside markup stay", `<b>Director’s</b> "quoted" it's & so`, `<b>Director’s</b> "quoted" it's &amp; so`},
		{"escaped text stays", "Fish &amp; Chips &lt;3 &gt; 2", "Fish &amp; Chips &lt;3 &gt; 2"},
		{"escaped tags stay text", "&lt;script&gt;x&lt;/script&gt;", "&lt;script&gt;x&lt;/script&gt;"},
		{"doubly escaped stays so", "&amp;lt;b&amp;gt;", "&amp;lt;b&amp;gt;"},
		{"other entities become characters", "&copy; &quot;a&quot; &#39;b&#39; caf&eacute;&nbsp;", "© \"a\" 'b' café\u00a0"},
		{"stray less-than is escaped", "a < b, 1 <3, x<y", "a &lt; b, 1 &lt;3, x&lt;y"},
		{"broken heart is escaped", "I </3 <b>you</b>", "I &lt;/3 <b>you</b>"},
		{"stray greater-than is escaped", "a > b", "a &gt; b"},
		{"line breaks stay", "a\n\nb\n<b>c</b>\n", "a\n\nb\n<b>c</b>\n"},
		{"line breaks become line feeds", "a\r\nb\rc<b>\r\n</b>&#13;&#10;d&#13;", "a\nb\nc<b>\n</b>\nd\n"},
		{"line breaks become line feeds in text without markup", "a\r\n\r\nb\rc", "a\n\nb\nc"},
		{"white space stays", " a  b\t", " a  b\t"},
		{"paragraphs stay", "<p>Hello <b>world</b></p>\n<p>x</p>", "<p>Hello <b>world</b></p>\n<p>x</p>"},
		{"void elements stay as written", "a<br>b<br />c<br/>d<hr>", "a<br>b<br />c<br />d<hr>"},
		{"names become lower case", "<P LANG=pl>a</P>", `<p lang="pl">a</p>`},
		{"other tags go without content", "<section><font color=red>a</font><x-y>b</x-y></section><center>c</center>", "abc"},
		{"address goes without content", "<address>a</address>", "a"},
		{"tags of literal elements go, their content is cleaned", "<textarea><b>a</b></textarea><noscript><i onclick=x>b</i></noscript><title>c</title><xmp>d<script>e</script></xmp>", "<b>a</b><i>b</i>cd"},
		{"plaintext is markup like any other", "<plaintext>a<b>b</b>", "a<b>b</b>"},
		{"comments and doctype go", "<!DOCTYPE html>a<!-- <b>x</b> -->b<?php echo 1 ?>c<![CDATA[d]]>e", "abce"},

		{"script", "a<script>b</script>c", "ac"},
		{"style", "a<style>b</style>c", "ac"},
		{"iframe", "a<iframe src='https://x.example/'>b</iframe>c", "ac"},
		{"object", "a<object><param><p>b</p><object>c</object>d</object>e", "ae"},
		{"embed", "a<embed src=x>b", "ab"},
		{"embed with a fallback", "a<embed src=x>b</embed>c", "ac"},
		{"stray end of embed", "a<b>b</b></embed>c", "a<b>b</b>c"},
		{"form", "a<form action=x>b<input><button>c</button></form>d", "ad"},
		{"svg", "a<svg><circle/><text>b</text></svg>c", "ac"},
		{"empty svg", "a<svg/>b", "ab"},
		{"math", "a<math><mi>b</mi></math>c", "ac"},
		{"template", "a<template><b>b</b></template>c", "ac"},
		{"stray end tags of dropped elements", "a</form></svg></script>b<form>c</form>d", "abd"},
		{"dropped elements in each other", "a<svg><form></svg>b</form>c", "abc"},
		{"script that claims to be empty", "a<script/>b</script>c", "ac"},
		{"script without end", "a<script>b<p>c", "a"},
		{"no tag arises around a dropped one", "<<script></script>b>a", "&lt;b&gt;a"},
		{"no dropped element arises either", "<<b></b>iframe src=x>a", "&lt;<b></b>iframe src=x&gt;a"},

		{"title lang dir are for all", `<p title="t" lang="pt-BR" dir="rtl">a</p><td dir=AUTO>`, `<p title="t" lang="pt-BR" dir="rtl">a</p><td dir="AUTO"></td>`},
		{"nonsense in lang and dir goes", `<p lang="x y" dir="up">a</p>`, `<p>a</p>`},
		{"other attributes go", `<p id=a class=b style="color:red" data-x=y role=z align=left onclick=f() title=t>a</p>`, `<p title="t">a</p>`},
		{"attributes are quoted and escaped", `<p title='"a" & <b> it&#39;s'>x</p>`, `<p title="&quot;a&quot; &amp; &lt;b&gt; it's">x</p>`},
		{"first of two attributes counts", `<a href="/a" href="/b">x</a>`, `<a href="/a">x</a>`},
		{"href http", `<a href="http://a.example/?b=c&amp;d=e#f">x</a>`, `<a href="http://a.example/?b=c&amp;d=e#f">x</a>`},
		{"href https in upper case", `<a href="HTTPS://a.example/">x</a>`, `<a href="https://a.example/">x</a>`},
		{"href mailto", `<a href="mailto:a@b.example?subject=Hi">x</a>`, `<a href="mailto:a@b.example?subject=Hi">x</a>`},
		{"href tel", `<a href="tel:+48123456789">x</a>`, `<a href="tel:+48123456789">x</a>`},
		{"href relative", `<a href="/a/b">x</a><a href="c?d=e">x</a><a href="#f">x</a>`, `<a href="/a/b">x</a><a href="c?d=e">x</a><a href="#f">x</a>`},
		{"href ftp goes", `<a href="ftp://a.example/">x</a>`, `<a>x</a>`},
		{"href data goes", `<a href="data:text/html,<script>alert(1)</script>">x</a>`, `<a>x</a>`},
		{"href is for a only", `<b href="/a">x</b>`, `<b>x</b>`},
		{"rel and target stay", `<a href="/a" rel="nofollow" target="_self">x</a>`, `<a href="/a" rel="nofollow" target="_self">x</a>`},
		{"no rel is added", `<a href="https://a.example/">x</a>`, `<a href="https://a.example/">x</a>`},
		{"a new window gets noopener", `<a href="/a" target="_blank">x</a>`, `<a href="/a" target="_blank" rel="noopener">x</a>`},
		{"a new window gets noopener beside others", `<a href="/a" rel="nofollow" target="_BLANK">x</a>`, `<a href="/a" rel="nofollow noopener" target="_BLANK">x</a>`},
		{"a named window too", `<a href="/a" target="w" rel="x-noopener">x</a>`, `<a href="/a" target="w" rel="x-noopener noopener">x</a>`},
		{"noreferrer is enough", `<a href="/a" target="_blank" rel="NoReferrer">x</a>`, `<a href="/a" target="_blank" rel="NoReferrer">x</a>`},
		{"nothing is written past a rel", `<a target=_blank rel=x>https</a>, and more text`, `<a target="_blank" rel="x noopener">https</a>, and more text`},
		{"img", `<img src="https://a.example/b.png" alt="c" width="10" height="50%">`, `<img src="https://a.example/b.png" alt="c" width="10" height="50%">`},
		{"img with slash", `<IMG SRC=http://a.example/b.png />`, `<img src="http://a.example/b.png" />`},
		{"img without address goes", `a<img alt="x">b<img src="">c`, "abc"},
		{"img with relative address goes", `a<img src="/b.png">b<img src="//c.example/d.png">c`, "abc"},
		{"img with data goes", `<img src="data:image/png;base64,AAAA">`, ""},
		{"nonsense in measures goes", `<img src="https://a.example/" width="calc(1)" height="-1">`, `<img src="https://a.example/">`},
		{"cite", `<blockquote cite="https://a.example/">a</blockquote><q cite="http://b.example/">b</q><del cite="https://c.example/">c</del><ins cite="https://d.example/">d</ins>`, `<blockquote cite="https://a.example/">a</blockquote><q cite="http://b.example/">b</q><del cite="https://c.example/">c</del><ins cite="https://d.example/">d</ins>`},
		{"cite with other schemes goes", `<q cite="javascript:alert(1)">a</q><ins cite="mailto:a@b.example">b</ins><p cite="https://a.example/">c</p>`, `<q>a</q><ins>b</ins><p>c</p>`},
		{"datetime", `<time datetime="2026-12-05 18:00">a</time><del datetime="2026">b</del><ins datetime="2026">c</ins><p datetime="2026">d</p>`, `<time datetime="2026-12-05 18:00">a</time><del datetime="2026">b</del><ins datetime="2026">c</ins><p>d</p>`},
		{"cells", `<table><tr><th scope="col" colspan="2">a</th><td rowspan="3" scope="x">b</td></tr></table>`, `<table><tr><th scope="col" colspan="2">a</th><td rowspan="3">b</td></tr></table>`},
		{"list start", `<ol start="-5"><li>a</li></ol><ol start="x"></ol><ul start="2"></ul>`, `<ol start="-5"><li>a</li></ol><ol></ol><ul></ul>`},

		{"open elements are closed", "<p>a<b>b<i>c", "<p>a<b>b<i>c</i></b></p>"},
		{"crossed elements are uncrossed", "<b>a<i>b</b>c</i>d", "<b>a<i>b</i></b>cd"},
		{"stray end tags go", "a</b></div></p></br>c", "ac"},
		{"an empty element is open in HTML", "<b/>a</b>c<span />d", "<b>a</b>c<span>d</span>"},
		{"paragraph ends before a paragraph", "<p>a<p>b", "<p>a</p><p>b</p>"},
		{"paragraph ends before a block", "<p>a<b>b<ul><li>c</ul>d</p>", "<p>a<b>b</b></p><ul><li>c</li></ul>d"},
		{"paragraph outside a table does not end in it", "<table><tr><td><p>a<td>b</table>", "<table><tr><td><p>a</p></td><td>b</td></tr></table>"},
		{"items end before items", "<ul><li>a<li>b<ol><li>c</ol><li>d</ul>", "<ul><li>a</li><li>b<ol><li>c</li></ol></li><li>d</li></ul>"},
		{"nested list keeps the outer item", "<ul><li>a<ul><li>b</li></li></ul></li></ul>", "<ul><li>a<ul><li>b</li></ul></li></ul>"},
		{"terms end before terms", "<dl><dt>a<dd>b<dt>c</dl>", "<dl><dt>a</dt><dd>b</dd><dt>c</dt></dl>"},
		{"rows and cells end", "<table><thead><tr><th>a<tbody><tr><td>b<td>c<tr><td>d</table>e", "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td><td>c</td></tr><tr><td>d</td></tr></tbody></table>e"},
		{"list in a cell ends with it", "<table><tr><td><ul><li>a</td><td>b</td></tr></table>", "<table><tr><td><ul><li>a</li></ul></td><td>b</td></tr></table>"},
		{"stray end tag leaves a table alone", "<div><table><tr><td>a</div></b>b</td></tr></table></div>", "<div><table><tr><td>ab</td></tr></table></div>"},
		{"stray end tag leaves a list alone", "<b><ul><li>a</b><li>b</ul></b>", "<b><ul><li>a</li><li>b</li></ul></b>"},
		{"links do not nest", `<a href="/a">a<a href="/b">b</a>`, `<a href="/a">a</a><a href="/b">b</a>`},
		{"nesting ends", strings.Repeat("<b>", maxDepth+5) + "a" + strings.Repeat("</b>", maxDepth+5) + "c", strings.Repeat("<b>", maxDepth) + "a" + strings.Repeat("</b>", maxDepth) + "c"},
		{"every element of the list stays", "<a></a><abbr></abbr><b></b><blockquote></blockquote><br><cite></cite><code></code><dd></dd><del></del><div></div><dl></dl><dt></dt><em></em><figcaption></figcaption><figure></figure><h1></h1><h2></h2><h3></h3><h4></h4><h5></h5><h6></h6><hr><i></i><ins></ins><kbd></kbd><li></li><mark></mark><ol></ol><p></p><pre></pre><q></q><s></s><samp></samp><small></small><span></span><strong></strong><sub></sub><sup></sup><table></table><tbody></tbody><td></td><tfoot></tfoot><th></th><thead></thead><time></time><tr></tr><u></u><ul></ul><var></var>", ""},
	}
	for _, tt := range tests {
		if tt.want == "" && strings.HasPrefix(tt.name, "every") {
			tt.want = tt.in
		}
		t.Run(tt.name, func(t *testing.T) {
			got, err := HTML(tt.in)
			must.Succeed(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("HTML(%q) (-want +got):\n%s", tt.in, diff)
			}
			checkStored(t, got)
		})
	}
}

// attacks are documents that run a script in some browser or parser when they are served as they are.
var attacks = []string{
	`<script>alert(1)</script>`,
	`<SCRIPT SRC=https://x.example/x.js></SCRIPT>`,
	`<script/x>alert(1)</script>`,
	`<scr<script>ipt>alert(1)</scr</script>ipt>`,
	`<<script>alert(1);//<</script>`,
	`<script <b>alert(1)</script>`,
	`<img src=x onerror=alert(1)>`,
	`<img src="https://x.example/" onerror="alert(1)">`,
	`<img/src="https://x.example/"/onload=alert(1)>`,
	"<img src='https://x.example/'\nonload\n=\nalert(1)>",
	`<img src="https://x.example/" alt="` + "`" + `onerror=alert(1)` + "`" + `">`,
	`<img """><script>alert(1)</script>">`,
	`<img src="javascript:alert(1)">`,
	`<img src="java` + "\t" + `script:alert(1)">`,
	`<img src="https://x.example/&quot; onerror=&quot;alert(1)">`,
	`<a href="javascript:alert(1)">x</a>`,
	`<a href="JaVaScRiPt:alert(1)">x</a>`,
	`<a href=" &#14; javascript:alert(1)">x</a>`,
	`<a href="&#1;javascript:alert(1)">x</a>`,
	`<a href="java&#10;script:alert(1)">x</a>`,
	`<a href="java&Tab;script:alert(1)">x</a>`,
	`<a href="java&NewLine;script&colon;alert(1)">x</a>`,
	`<a href="&#106;&#97;&#118;&#97;&#115;&#99;&#114;&#105;&#112;&#116;&#58;alert(1)">x</a>`,
	`<a href="&#x6A&#x61&#x76&#x61&#x73&#x63&#x72&#x69&#x70&#x74&#x3A;alert(1)">x</a>`,
	`<a href="` + "\u00a0" + `javascript:alert(1)">x</a>`,
	`<a href="` + "\ufeff" + `javascript:alert(1)">x</a>`,
	`<a href="javascript://x.example/%0Aalert(1)">x</a>`,
	`<a href="vbscript:msgbox(1)">x</a>`,
	`<a href="data:text/html;base64,PHNjcmlwdD4=">x</a>`,
	`<a href="view-source:javascript:alert(1)">x</a>`,
	`<a href="feed:javascript:alert(1)">x</a>`,
	`<a href=javascript:alert(1) href="/x">x</a>`,
	`<a href="/x" onclick="alert(1)" ONMOUSEOVER='alert(1)' style="x:expression(alert(1))">x</a>`,
	`<q cite="javascript:alert(1)">x</q>`,
	`<p style="background:url(javascript:alert(1))">x</p>`,
	`<div title="</div><script>alert(1)</script>">x</div>`,
	`<iframe src="javascript:alert(1)"></iframe>`,
	`<iframe srcdoc="<script>alert(1)</script>">`,
	`<object data="data:text/html,<script>alert(1)</script>"></object>`,
	`<embed src="javascript:alert(1)">`,
	`<form action="javascript:alert(1)"><button>x</button></form>`,
	`<button formaction="javascript:alert(1)">x</button>`,
	`<input autofocus onfocus=alert(1)>`,
	`<details open ontoggle=alert(1)>x</details>`,
	`<body onload=alert(1)>x</body>`,
	`<base href="javascript:alert(1)//">`,
	`<meta http-equiv="refresh" content="0;url=javascript:alert(1)">`,
	`<link rel="stylesheet" href="javascript:alert(1)">`,
	`<video><source onerror="alert(1)"></video><audio src=x onerror=alert(1)>`,
	`<svg onload=alert(1)>`,
	`<svg><script>alert(1)</script></svg>`,
	`<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>`,
	`<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">`,
	`<svg><p><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`,
	`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`,
	`<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>`,
	`<math><mtext></mtext><mglyph><svg><mtext><textarea><path id="</textarea><img onerror=alert(1) src=1>">`,
	`<math><annotation-xml encoding="text/html"><style><img src=x onerror=alert(1)></style></annotation-xml></math>`,
	`<template><script>alert(1)</script></template>`,
	`<noscript><p title="</noscript><img src=x onerror=alert(1)>">`,
	`<noembed><img title="</noembed><img src=x onerror=alert(1)>">`,
	`<textarea><img title="</textarea><img src=x onerror=alert(1)>">`,
	`<title><img title="</title><img src=x onerror=alert(1)>">`,
	`<xmp><p title="</xmp><img src=x onerror=alert(1)>">`,
	`<plaintext><img src=x onerror=alert(1)>`,
	`<style><style/><img src=x onerror=alert(1)></style>`,
	`<select><style><img src=x onerror=alert(1)></style></select>`,
	`<table><td background="javascript:alert(1)"><a href="javascript:alert(1)">x`,
	`<!--><img src=x onerror=alert(1)>-->`,
	`<!--!><img src=x onerror=alert(1)>--!>`,
	`<!-- --!><img src=x onerror=alert(1)>-->`,
	`<![CDATA[<img src=x onerror=alert(1)>]]>`,
	`<?xml <img src=x onerror=alert(1)>?>`,
	`</3<img src=x onerror=alert(1)>`,
	`<b <img src=x onerror=alert(1)>`,
	`<p title="<img src=x onerror=alert(1)>`,
	`<p title='a"><img src=x onerror=alert(1)>'>`,
	`&lt;img src=x onerror=alert(1)&gt;`,
	`<a target=_blank rel='" onclick="alert(1)'>x</a>`,
	"<img\fsrc=x\fonerror=alert(1)>",
	`<ſcript>alert(1)</ſcript><scrİpt>alert(1)</scrİpt>`,
	`<embed><script></embed>alert(1)</script>`,
}

func TestHTMLDisarms(t *testing.T) {
	for _, in := range attacks {
		t.Run(in, func(t *testing.T) {
			got, err := HTML(in)
			must.Succeed(t, err)
			checkStored(t, got)
			checkHTML(t, Paragraphs(got))
		})
	}
}

// TestHostileSizes sanitises very large documents that are made to be slow. Code with quadratic time would exceed the
// time limit of the tests. With -short it uses a fifth of the size.
func TestHostileSizes(t *testing.T) {
	n := 50_000
	if testing.Short() {
		n /= 5
	}
	for _, in := range []string{
		strings.Repeat("<b>", n), strings.Repeat("</b>", n), strings.Repeat("<div>", n) + strings.Repeat("</div>", n),
		strings.Repeat("<a href=/><table><tr><td>", n), strings.Repeat("<p><ul><li>", n), strings.Repeat("<", n),
		strings.Repeat("</", n) + ">", strings.Repeat("<embed>x</embed>", n), strings.Repeat("<svg>", n),
		strings.Repeat("<!--", n) + ">", strings.Repeat("<script>", n), strings.Repeat("<a b='>", n),
		strings.Repeat("&", n), strings.Repeat("\n \n", n), "<b " + strings.Repeat("title=x ", n) + ">",
		"<a rel='" + strings.Repeat("x ", n) + "' target=_blank>", strings.Repeat("<b></i>", n),
		"<a href='" + strings.Repeat("%41&", n) + "'>x</a>", strings.Repeat("<br", n) + ">",
	} {
		got, err := HTML(in)
		must.Succeed(t, err)
		checkStored(t, got)
		Paragraphs(got)
		Plain(got)
		if _, err := Text(in); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHTMLOfRandomPieces sanitises documents of random pieces of markup. They reach more states of the code than
// random bytes.
func TestHTMLOfRandomPieces(t *testing.T) {
	pieces := strings.Split("< > </ <! <!-- --> & &lt; &#13; &#10; ' \" = / /> a b\n\n c\r\n <x> </x> <a b=' '> <a href= "+
		"javascript: https://x.example/ <img src=https://x.example/> onload=y title=' rel=z target=_blank "+
		"<br> <br/> </br> <hr> <textarea> </textarea> <title> </title> <xmp> <noscript> </noscript> <plaintext> "+
		"<![CDATA[ ]]> <?", " ")
	for _, name := range append(slices.Clone(allowedElements), "script", "style", "iframe", "object", "embed", "form", "svg", "math", "template") {
		pieces = append(pieces, "<"+name+">", "<"+name+">", "</"+name+">", "</"+name+">", "<"+name+"/>", "<"+name+" ")
	}
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 5000
	if testing.Short() {
		rounds = 2000
	}
	for range rounds {
		var b strings.Builder
		for range 1 + r.IntN(30) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		got, err := HTML(b.String())
		must.Succeed(t, err)
		checkStored(t, got)
		read := Paragraphs(got)
		checkHTML(t, read)
		if want, text := Plain(got), Plain(read); want != text {
			t.Fatalf("Paragraphs(%q) = %q changes the text %q to %q", got, read, want, text)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, s := range attacks {
		f.Add(s)
	}
	for _, s := range []string{
		"a\r\n\r\nb", "<table><b><tr><td>x</b>", "<ul><li><p>a<li>b</ul>", "<a href='/'><div><a href=x>", "<dl><dt>a<dd><p>b",
		`<a href="//x y">`, `<a href="http:\\x">`, "<img src=https://[::1%25a]/>", "<pre>\n\na</pre>", "<b/><p/><br/>", "\x00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := HTML(s)
		if err != nil {
			return
		}
		checkStored(t, got)
	})
}

// checkHTML parses the result of HTML as a browser would. It reports elements and attributes that are not allowed. It
// has its own copy of the allow-list on purpose.
func checkHTML(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("not UTF-8: %q", s)
	}
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(strings.NewReader(s), body)
	if err != nil {
		t.Fatalf("%.2000q: %v", s, err)
	}
	for _, top := range nodes {
		checkNode(t, s, top)
		for n := range top.Descendants() {
			checkNode(t, s, n)
		}
	}
}

// checkStored calls checkHTML for a result of HTML. It also checks that HTML returns that result unchanged.
func checkStored(t *testing.T, s string) {
	t.Helper()
	checkHTML(t, s)
	if again, err := HTML(s); err != nil || again != s {
		t.Fatalf("not stable (%v):\n once: %.2000q\ntwice: %.2000q", err, s, again)
	}
}

func checkNode(t *testing.T, s string, n *html.Node) {
	t.Helper()
	switch n.Type {
	case html.TextNode:
		return
	case html.ElementNode:
	default:
		t.Fatalf("node of type %d in %.2000q", n.Type, s)
	}
	const elements = "a abbr b blockquote br cite code dd del div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img " +
		"ins kbd li mark ol p pre q s samp small span strong sub sup table tbody td tfoot th thead time tr u ul var"
	own := map[string]string{
		"a": "href rel target", "img": "src alt width height", "blockquote": "cite", "q": "cite",
		"del": "cite datetime", "ins": "cite datetime", "time": "datetime", "td": "colspan rowspan scope",
		"th": "colspan rowspan scope", "ol": "start",
	}
	if n.Namespace != "" || !slices.Contains(strings.Fields(elements), n.Data) {
		t.Fatalf("element %q %q in %.2000q", n.Namespace, n.Data, s)
	}
	for _, a := range n.Attr {
		if a.Namespace != "" || !slices.Contains(strings.Fields("title lang dir "+own[n.Data]), a.Key) {
			t.Fatalf("attribute %q of %s in %.2000q", a.Key, n.Data, s)
		}
		schemes := []string{"http", "https"}
		switch a.Key {
		case "href":
			schemes = []string{"http", "https", "mailto", "tel", ""}
		case "src", "cite":
		default:
			continue
		}
		u, err := url.Parse(a.Val)
		if err != nil || !slices.Contains(schemes, u.Scheme) || strings.ContainsAny(a.Val, "\t\n\r \x00") {
			t.Fatalf("address %q of %s in %.2000q", a.Val, n.Data, s)
		}
	}
}

func BenchmarkHTML(b *testing.B) {
	const line = "Some words about an evening with <b>music</b> and <a href=\"https://example.org/\">more</a>, isn't it?"
	in := strings.Repeat("<p>"+line+"</p>\n", 10)
	b.ReportAllocs()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, err := HTML(in); err != nil {
			b.Fatal(err)
		}
	}
}

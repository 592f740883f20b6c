package importer

import (
	"testing"
)

func FuzzCompressedSitemap(f *testing.F) {
	for _, text := range []string{
		`<urlset><url><loc>https://calendar.example.org/event/jazz-night/</loc></url></urlset>`,
		`<sitemapindex><sitemap><loc> https://calendar.example.org/a.xml </loc></sitemap></sitemapindex>`,
		`<urlset><url><loc>https://calendar.example.org/cut`, "\x1f\x8b\x08", `<html></html>`, "",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		plain, err := unzipped(data)
		if err != nil {
			return
		}
		files, pages, err := parseSitemap(plain)
		if len(files)+len(pages) > maxAddresses {
			t.Errorf("%d addresses", len(files)+len(pages))
		}
		for _, address := range append(files, pages...) {
			if address == "" || len(address) > maxURL {
				t.Errorf("an address of %d bytes", len(address))
			}
		}
		if err == nil && len(plain) == 0 {
			t.Error("an empty file is a sitemap")
		}
	})
}

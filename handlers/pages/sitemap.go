package pages

import (
	"context"
	"encoding/xml"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/slug"
	"github.com/almanac-cal/almanac/internal/address"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/index"
	"github.com/almanac-cal/almanac/internal/query"
	"github.com/almanac-cal/almanac/internal/read"
	"github.com/almanac-cal/almanac/internal/reply"
)

// SitemapPath and RobotsPath are the paths of files that search engines read (contract, section 21).
const (
	SitemapPath = "/sitemap.xml"
	RobotsPath  = "/robots.txt"
)

// sitemapURLs is the largest number of URLs in a sitemap.
const sitemapURLs = 10_000

// sitemapIDs is the number of ids that a sitemap covers. Each id may be a record with a URL in each language.
// Each sitemap covers a fixed range of ids, so an index finds its records. A record never moves to another
// sitemap.
var sitemapIDs = int64(sitemapURLs / len(calendar.Languages))

// maxSitemaps is the largest number of sitemaps that the protocol allows in a sitemap index.
const maxSitemaps = 50_000

// sitemapRecords are the kinds in sitemaps with odd numbers, whose ids come from one sequence. sitemapTerms are
// those in sitemaps with even numbers.
var (
	sitemapRecords = slices.Concat([]calendar.Kind{calendar.Event}, calendar.LinkedKinds)
	sitemapTerms   = []calendar.Kind{calendar.Category, calendar.Tag}
)

// servesKind reports whether records of a kind have pages.
func (s *Pages) servesKind(kind calendar.Kind) bool {
	if kind.IsTerm() {
		return s.servesTerms(kind)
	}
	return s.servesView(address.View(kind))
}

// sitemapOf returns the number of the sitemap that has a record.
func sitemapOf(kind calendar.Kind, id int64) int64 {
	stretch := (id - 1) / sitemapIDs
	if slices.Contains(sitemapTerms, kind) {
		return 2*stretch + 2
	}
	return 2*stretch + 1
}

// sitemapForm matches the paths of sitemaps. The number of digits is limited so that ids do not exceed int64.
var sitemapForm = regexp.MustCompile(`^/sitemap-([1-9][0-9]{0,8})\.xml$`)

// SitemapNumber returns the number n in the path /sitemap-{n}.xml. ok is false for other paths.
func SitemapNumber(path string) (n int64, ok bool) {
	found := sitemapForm.FindStringSubmatch(path)
	if found == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(found[1], 10, 64)
	return n, err == nil
}

// Robots returns robots.txt. It disallows all paths if PageSettings.Indexing is false. Otherwise, feeds and pages
// that must not be indexed stay allowed, so that crawlers can read their noindex.
func (s *Pages) Robots() []byte {
	disallow := ""
	if !s.PageSettings.Indexing {
		disallow = " /"
	}
	return []byte("User-agent: *\nDisallow:" + disallow + "\n\nSitemap: " + s.Site.BaseURL + SitemapPath + "\n")
}

// sitemapLink is the URL of a sitemap in the sitemap index.
type sitemapLink struct {
	Loc string `xml:"loc"`
}

// Sitemap is a document of the sitemap protocol. A nil Body means that the sitemap has no URLs.
type Sitemap struct {
	Body      []byte
	Unchanged reply.Unchanged
}

// SitemapIndex returns /sitemap.xml, which lists the sitemaps that have URLs. The index in memory finds them if it
// can. The revision is that when the request began, 0 if unknown.
func (s *Pages) SitemapIndex(ctx context.Context, now time.Time, revision int64) (Sitemap, error) {
	var d reply.Validity
	numbers, err := s.indexedSitemaps(ctx, now, revision)
	if s.needsStatements(err) {
		numbers, err = s.storedSitemaps(ctx, now)
	} else {
		d.Complete, d.Found = revision != 0, query.Page{IDs: numbers}
		d.FindAgain = func(ctx context.Context, revision int64, now time.Time) (query.Page, error) {
			numbers, err := s.indexedSitemaps(ctx, now, revision)
			return query.Page{IDs: numbers}, err
		}
	}
	if err != nil {
		return Sitemap{}, err
	}
	document := struct {
		XMLName  xml.Name      `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 sitemapindex"`
		Sitemaps []sitemapLink `xml:"sitemap"`
	}{}
	for _, n := range numbers[:min(len(numbers), maxSitemaps)] {
		document.Sitemaps = append(document.Sitemaps, sitemapLink{s.Site.BaseURL + "/sitemap-" + strconv.FormatInt(n, 10) + ".xml"})
	}
	body, err := sitemapXML(document)
	return Sitemap{body, d.Unchanged(s.Index)}, err
}

// needsStatements reports whether SQL statements must find the records of a sitemap. err is the result of asking
// the index. The statements are needed if there is no index or err says that it cannot answer.
func (s *Pages) needsStatements(err error) bool {
	return s.Index == nil || errors.Is(err, index.ErrNotReady) || errors.Is(err, query.ErrUnsupported)
}

// indexedSitemaps returns the numbers of the sitemaps that have URLs, sorted. The index finds them.
func (s *Pages) indexedSitemaps(ctx context.Context, now time.Time, revision int64) ([]int64, error) {
	if s.Index == nil {
		return nil, nil
	}
	var numbers []int64
	for _, kind := range slices.Concat(sitemapRecords, sitemapTerms) {
		if !s.servesKind(kind) {
			continue
		}
		page, err := s.Index.FindPublic(ctx, query.Public{Kind: kind, Now: now, Revision: revision})
		if err != nil {
			return nil, err
		}
		if kind.IsTerm() && (!s.servesTerms(calendar.Category) || !s.servesTerms(calendar.Tag)) {
			if page.IDs, err = (query.Database{Ent: s.publicReads()}).TermsOf(ctx, kind, page.IDs); err != nil {
				return nil, err
			}
		}
		for _, id := range page.IDs {
			numbers = append(numbers, sitemapOf(kind, id))
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}

// storedSitemaps returns the numbers of the sitemaps that have URLs, for use without an index. SQL statements read
// all records.
func (s *Pages) storedSitemaps(ctx context.Context, now time.Time) (numbers []int64, err error) {
	db := query.Database{Ent: s.publicReads()}
	for _, kind := range slices.Concat(sitemapRecords, sitemapTerms) {
		if !s.servesKind(kind) {
			continue
		}
		stretches, err := db.PublicStretches(ctx, query.Public{Kind: kind, Now: now}, sitemapIDs)
		if err != nil {
			return nil, err
		}
		for _, n := range stretches {
			numbers = append(numbers, sitemapOf(kind, n*sitemapIDs+1))
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}

// sitemapURL is the URL of a page in one language.
type sitemapURL struct {
	Loc        string             `xml:"loc"`
	LastMod    string             `xml:"lastmod"`
	Alternates []sitemapAlternate `xml:"http://www.w3.org/1999/xhtml link"`
}

// sitemapAlternate is the URL of the same page in a language.
type sitemapAlternate struct {
	Rel      string `xml:"rel,attr"`
	Language string `xml:"hreflang,attr"`
	Href     string `xml:"href,attr"`
}

// sitemapPart is a query for the records of one kind in a sitemap. page has the records that the index found.
type sitemapPart struct {
	query.Public
	page query.Page
}

// sitemapParts returns the parts of the sitemap with a number, one for each kind of records with pages. Without
// the index in memory, their pages are empty.
func (s *Pages) sitemapParts(ctx context.Context, now time.Time, revision, number int64) (parts []sitemapPart, err error) {
	kinds := sitemapRecords
	if number%2 == 0 {
		kinds = sitemapTerms
	}
	after := (number - 1) / 2 * sitemapIDs
	for _, kind := range kinds {
		if !s.servesKind(kind) {
			continue
		}
		part := sitemapPart{
			Public: query.Public{Kind: kind, Now: now, After: after, UpTo: after + sitemapIDs, Revision: revision},
		}
		if s.Index != nil && err == nil {
			part.page, err = s.Index.FindPublic(ctx, part.Public)
		}
		parts = append(parts, part)
	}
	return parts, err
}

// joinPages returns one page with the records of all parts.
func joinPages(parts []sitemapPart) (all query.Page) {
	for _, p := range parts {
		all.IDs, all.Changed = append(all.IDs, p.page.IDs...), append(all.Changed, p.page.Changed...)
	}
	return all
}

// Sitemap returns the sitemap with a number. The index in memory finds its records if it can. The revision is that
// when the request began, 0 if unknown.
func (s *Pages) Sitemap(ctx context.Context, now time.Time, revision, number int64) (Sitemap, error) {
	parts, err := s.sitemapParts(ctx, now, revision, number)
	db, find := query.Database{Ent: s.publicReads()}, func(db query.Database, p sitemapPart) ([]query.PublicRecord, error) {
		return db.ReadPublic(ctx, p.Public, p.page.IDs)
	}
	var d reply.Validity
	switch {
	case s.needsStatements(err):
		find = func(db query.Database, p sitemapPart) ([]query.PublicRecord, error) {
			return db.FindPublic(ctx, p.Public)
		}
	case err != nil:
		return Sitemap{}, err
	default:
		d.Complete, d.Found = revision != 0, joinPages(parts)
		d.FindAgain = func(ctx context.Context, revision int64, now time.Time) (query.Page, error) {
			parts, err := s.sitemapParts(ctx, now, revision, number)
			return joinPages(parts), err
		}
		if number%2 == 0 {
			d.DependsOnKind(calendar.Category)
			d.DependsOnKind(calendar.Tag)
		}
	}
	set := struct {
		XMLName xml.Name     `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		URLs    []sitemapURL `xml:"url"`
	}{}
	for _, part := range parts {
		found, err := find(db, part)
		if err != nil {
			return Sitemap{}, err
		}
		paths, err := s.publicPaths(ctx, now, part.Kind, found)
		if err != nil {
			return Sitemap{}, err
		}
		for _, record := range found {
			set.URLs = append(set.URLs, s.sitemapURLs(record, paths[record.ID])...)
		}
	}
	if set.URLs == nil {
		return Sitemap{}, nil
	}
	body, err := sitemapXML(set)
	return Sitemap{body, d.Unchanged(s.Index)}, err
}

// publicReads returns the database that sitemaps are made from: the replica if there is one, else the primary
// database.
func (s *Pages) publicReads() *ent.Client {
	if s.Replica != nil {
		return s.Replica
	}
	return s.Primary
}

// sitemapURLs returns the URLs of a record, one for each language that it has a text in. paths are below the
// language segment.
func (s *Pages) sitemapURLs(record query.PublicRecord, paths map[calendar.Language]string) []sitemapURL {
	languages := record.Languages.List()
	if len(languages) == 0 {
		languages = []calendar.Language{record.Language}
	}
	languages = s.offeredLanguages(languages)
	address := func(l calendar.Language) string { return s.Site.BaseURL + s.SegmentOf(l) + paths[l] }
	var alternates []sitemapAlternate
	if len(s.PageSettings.Languages) > 1 {
		for _, l := range languages {
			alternates = append(alternates, sitemapAlternate{"alternate", string(l), address(l)})
		}
		alternates = append(alternates, sitemapAlternate{"alternate", "x-default", address(s.neutralLanguage(record.Language, languages))})
	}
	modified := record.ModifiedAt.UTC().Format(time.RFC3339)
	urls := make([]sitemapURL, len(languages))
	for i, l := range languages {
		urls[i] = sitemapURL{Loc: address(l), LastMod: modified, Alternates: alternates}
	}
	return urls
}

// publicPaths returns the paths of records by id and language.
func (s *Pages) publicPaths(
	ctx context.Context, now time.Time, kind calendar.Kind, records []query.PublicRecord,
) (map[int64]map[calendar.Language]string, error) {
	paths := make(map[int64]map[calendar.Language]string, len(records))
	if len(records) == 0 {
		return paths, nil
	}
	if kind.IsHierarchical() {
		return s.categoryPaths(ctx, now, records)
	}
	slugs, err := s.slugsOf(ctx, kind, records)
	if err != nil {
		return nil, err
	}
	for _, record := range records {
		paths[record.ID] = map[calendar.Language]string{}
		for _, lang := range calendar.Languages {
			text := record.Slug
			for _, l := range []calendar.Language{s.Site.Language, lang} { // the last language that has a slug wins
				if s := slugs[record.ID][l]; s != "" {
					text = s
				}
			}
			p := address.Page{View: address.View(kind), Slugs: []string{calendar.DecodedSlug(text)}}
			if kind.IsTerm() {
				p.View, p.Taxonomy = address.ViewList, kind
			}
			paths[record.ID][lang] = p.Path(&s.PageSettings.Paths)
		}
	}
	return paths, nil
}

// slugBatch is the number of records whose slugs one SQL statement reads. It is below the number of variables
// that SQLite allows.
const slugBatch = 500

// slugsOf returns the slugs of records by id and language.
func (s *Pages) slugsOf(
	ctx context.Context, kind calendar.Kind, records []query.PublicRecord,
) (map[int64]map[calendar.Language]string, error) {
	slugs := make(map[int64]map[calendar.Language]string, len(records))
	for part := range slices.Chunk(records, slugBatch) {
		ids := make([]int64, len(part))
		for i, record := range part {
			ids[i] = record.ID
		}
		rows, err := s.publicReads().Slug.Query().Where(slug.OwnerIDIn(ids...), slug.KindEQ(kind), slug.TrashedID(0)).All(ctx)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if slugs[row.OwnerID] == nil {
				slugs[row.OwnerID] = map[calendar.Language]string{}
			}
			slugs[row.OwnerID][row.Language] = row.Slug
		}
	}
	return slugs, nil
}

// categoryPaths returns the paths of categories by id and language. A path includes the slugs of the ancestors.
func (s *Pages) categoryPaths(
	ctx context.Context, now time.Time, records []query.PublicRecord,
) (map[int64]map[calendar.Language]string, error) {
	ids := make([]int64, len(records))
	paths := make(map[int64]map[calendar.Language]string, len(records))
	for i, record := range records {
		ids[i], paths[record.ID] = record.ID, map[calendar.Language]string{}
	}
	for _, lang := range calendar.Languages {
		r := s.NewReader(ctx, s.publicReads(), now, auth.Principal{}, read.Root{Mount: s.apiRoot}, lang)
		for part := range slices.Chunk(ids, slugBatch) {
			rows, err := r.DB.ReadTerms(ctx, part)
			if err != nil {
				return nil, err
			}
			if err := r.Translate(ent.PageOf(rows...)); err != nil {
				return nil, err
			}
			shown, err := r.RepresentTerms(rows)
			if err != nil {
				return nil, err
			}
			for _, t := range shown {
				paths[t.ID][lang] = strings.TrimPrefix(t.URL, s.Site.BaseURL+s.SegmentOf(lang))
			}
		}
	}
	return paths, nil
}

// sitemapXML encodes a document of the sitemap protocol.
func sitemapXML(document any) ([]byte, error) {
	body, err := xml.Marshal(document)
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), body...), nil
}

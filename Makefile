# Every verb is a command one could type as well.

# A MySQL server with a user who may create databases; a slash at the end.
MYSQL ?= mysql://root@127.0.0.1:3306/

# How long to fuzz.
FOR ?= 1m

.PHONY: run demo test test-mysql lint generate migration build release pictures fuzz bench check ci

run: ## serve from almanac.db in this folder
	go run ./cmd/almanac serve

demo: ## a calendar to try
	go run ./cmd/almanac demo

test: ## on SQLite
	go test ./...

test-mysql: ## on SQLite and on MySQL
	ALMANAC_TEST_MYSQL=$(MYSQL) go test ./...

lint: ## format, then check
	go tool -modfile=tools.mod golangci-lint fmt
	go tool -modfile=tools.mod golangci-lint run

generate: ## ent/ from schema/, and the rest that is generated
	go generate ./...
	bash .ci/release/licences

migration: ## NAME=add_colour: the next migration of both engines
	go run ./cmd/almanac migrate diff $(NAME) --dev $(MYSQL)almanac_dev

build: ## one static file
	CGO_ENABLED=0 go build -trimpath -o almanac ./cmd/almanac

release: ## programs for all systems, packages, SBOMs and checksums, in dist/
	bash .ci/release/run

pictures: ## docs/pictures, with Node and Chromium
	bash .ci/web --pictures

# Whole requests are PKG=./server TARGET=FuzzRequest. What it finds is kept, one request of each behaviour, by
#	go test ./server -run KeepFound -keep "$(go env GOCACHE)/fuzz/github.com/almanac-cal/almanac/server/FuzzRequest"
# and larger steps without its guidance are: go test ./server -run AtRandom -requests 20000 -timeout 1h
fuzz: ## PKG=./calendar TARGET=FuzzSlug FOR=1m
	go test -run='^$$' -fuzz='^$(TARGET)$$' -fuzztime=$(FOR) -fuzzminimizetime=2s $(PKG)

bench:
	go test -run='^$$' -bench=. -benchmem ./...

check: ## what to run before a push
	bash .ci/check

ci: ## everything that a change must pass
	bash .ci/run

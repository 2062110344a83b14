#!/bin/sh
# Brings what a few tests use of npm to where they look for it; without it they skip.
# usage: sh tests/fetch-npm.sh [axe-core|playwright-core|speedscope|duckdb]...   all of them without a word
set -eu
cache=${JPROF_DOWNLOADS:-${XDG_CACHE_HOME:-$HOME/.cache}/jprof}

version_of() {
    case $1 in
    axe-core) echo 4.14.1 ;;        # browser-page: judges pages for people who do not see
    playwright-core) echo 1.60.0 ;; # the last for the node of Debian 12; browser-playwright: drives Debian's Chromium
    speedscope) echo 1.25.0 ;;      # doors-speedscope: reads what --speedscope writes
    duckdb) echo 1.5.6-r.1 ;;       # doors-rows: runs the queries of docs/internals/rows.md
    *) echo "fetch-npm.sh: there is no $1; give axe-core, playwright-core, speedscope or duckdb" >&2 && return 1 ;;
    esac
}

# DuckDB is a program in a package of its own for each processor.
fetch_duckdb() {
    mkdir -p "$cache/duckdb"
    grep -qs "\"version\": \"$(version_of duckdb)\"" "$cache/duckdb/node_modules/@duckdb/node-api/package.json" ||
        npm install --silent --no-audit --no-fund --prefix "$cache/duckdb" "@duckdb/node-api@$(version_of duckdb)"
}

fetch() {
    version=$(version_of "$1")
    if [ -f "$cache/$1/package.json" ] && grep -q "\"version\": \"$version\"" "$cache/$1/package.json"; then return; fi
    command -v npm >/dev/null || { echo "fetch-npm.sh: no npm here (Debian: npm)" >&2; exit 1; }
    mkdir -p "$cache"
    work=$(mktemp -d "$cache/$1.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && npm pack --silent "$1@$version" >/dev/null && tar xzf "$1-$version.tgz")
    rm -rf "${cache:?}/$1"
    mv "$work/package" "$cache/$1"
    rm -rf "$work"
}

[ $# -gt 0 ] || set -- axe-core playwright-core speedscope duckdb
for name; do
    case $name in duckdb) fetch_duckdb ;; *) fetch "$name" ;; esac
done

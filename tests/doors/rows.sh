#!/bin/sh
# docs/internals/rows.md: its script makes rows of bundles, with when, which pod and which process; DuckDB runs its queries.
. "$(dirname "$0")/../cli/lib.sh"
guide=$root/docs/internals/rows.md
for tool in zstd jq tar awk; do command -v $tool >/dev/null || skip "no $tool here"; done
mkdir bin archive
cat >bin/jprof <<END
#!/bin/sh
exec "$jprof" "--sysroot=$heaps/sysroot" "\$@"
END
chmod +x bin/jprof
PATH=$tmp/bin:$PATH ARCHIVE=$tmp/archive
export PATH ARCHIVE
cp "$cases/real/redmine-boot.jprof" archive/web1.1795310000.jprof
cp "$cases/real/redmine-steady.jprof" archive/web1.1795313258.jprof
cp "$cases/ruby33/slots.1.jprof" archive/web2.1795313300.jprof
block() { # KIND: of the guide
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$guide" | sed '1d;$d'
}
block 'sh rows' >rows
check "the guide has no script" [ -s rows ]
works sh rows
prints_nothing
check "not three files of rows" [ "$(ls archive/*.csv | wc -l)" -eq 3 ]
check "the first row: $(sed -n 2p archive/web1.1795313258.jprof.csv)" eval "sed -n 2p archive/web1.1795313258.jprof.csv | grep -q '^1795313258,web1,9233,[0-9]'"
check "two heads" [ "$(cat archive/web2*.csv | grep -c '^time,pod,worker,flat,')" -eq 1 ]
# What all rows of a bundle hold is what the text report says.
total=$(jprof --show_bytes archive/web1.1795313258.jprof 2>/dev/null | sed -n 's/^Total: \([0-9]*\) B.*/\1/p')
check "rows are not the total, $total" awk -F, -v total="$total" 'NR > 1 { sum += $4 } END { d = sum - total; exit !(total > 1e8 && d * d < NR * NR) }' archive/web1.1795313258.jprof.csv

# ---- DuckDB ----
duckdb=${JPROF_DOWNLOADS:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/jprof}/duckdb/node_modules/@duckdb/node-api
block 'sql duckdb' >queries
check "the guide has no queries" [ "$(grep -c ';' queries)" -eq 4 ]
[ "${2:-}" = duckdb ] || finish
command -v node >/dev/null && [ -d "$duckdb" ] || skip "no DuckDB here; sh tests/fetch-npm.sh duckdb brings it"
cat >run.js <<'END'
const { DuckDBInstance } = require(process.argv[2]);
(async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  for (const query of require('fs').readFileSync(process.argv[3], 'utf8').split(';').map((text) => text.trim()).filter(Boolean)) {
    const answer = await connection.runAndReadAll(query);
    for (const row of answer.getRows()) console.log(row.map(String).join('\t'));
    console.log('--');
  }
})().catch((error) => { console.error(String(error)); process.exit(1); });
END
cd archive
works node ../run.js "$duckdb" ../queries
prints '^libruby-3.1!0x69000	[0-9]+	1$'
prints '^web1	.*	(true|false)$'
prints '	web1	[0-9]+$'
cd ..
finish

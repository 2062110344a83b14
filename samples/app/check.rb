# Prints jprof's amounts beside what the sample program knows it holds.
#
# usage: ruby check.rb TRUTH REPORT
#
# Exits with 1 if an amount lies outside five standard errors.
#
# The standard error: jemalloc takes an object of s bytes into its sample with
# probability p = 1 - exp(-s/R), R the sampling rate, and the report counts it
# as s/p. N objects of s bytes, V = N*s in all, thus have the variance
#   N * s^2 * (1-p)/p  =  V * s / (exp(s/R) - 1).
# The factor behind V falls from R as s grows, so V*R bounds the variance of
# objects of mixed sizes; for the small ones that matter here it is close.
LIMIT = 5

# The function below which an owner's memory was allocated, exported where
# there is one; what else matches lies inside it. The amount is the largest
# cumulative one of these rows.
ROWS = {
  "C extension" => /\Aparse_row\b/,
  "Fiddle.malloc" => /\A(fiddle!|rb_fiddle_malloc\b|Fiddle\.malloc\b)/, # static: without symbols only its object file has a name
  "hash cache" => /\Arb_hash_aref\b/,
  "Nokogiri" => /\AxmlReadMemory\b/,
  "module_eval" => /\A(rb_iseq_new_eval|pm_iseq_new_eval)\b/
}

def standard_error(bytes, object, rate)
  factor = object > 0 ? object / (Math.exp(object.to_f / rate) - 1) : rate
  Math.sqrt(bytes * factor)
end

def megabytes(bytes)
  format("%.2f MB", bytes / 1e6)
end

# The report's rows: flat flat% sum% cum cum% name.
def cumulative_of(report)
  report.drop(1).to_h do |line|
    *, cumulative, _, name = line.chomp.split(nil, 6)
    [name, cumulative.to_i]
  end
end

truth, report = ARGV
abort "usage: ruby check.rb TRUTH REPORT" unless report
(_, rate), *owners = File.readlines(truth, chomp: true).map { |line| line.split("\t") }
rows = cumulative_of(File.readlines(report))
columns = "%-13s %14s %12s %16s %11s   %s\n"
names = []
outside = 0

printf columns, "owner", "program holds", "jprof says", "standard error", "off by", "verdict"
owners.each do |owner, bytes, object, _|
  bytes = bytes.to_i
  error = standard_error(bytes, object.to_i, rate.to_i)
  name, says = rows.select { |row, _| row =~ ROWS.fetch(owner) }.max_by(&:last)
  off = ((says || 0) - bytes) / error
  ok = off.abs <= LIMIT
  outside += 1 unless ok
  names << (name || "(no row for #{owner})")
  printf columns, owner, megabytes(bytes), name ? megabytes(says) : "no row", megabytes(error),
         format("%+.1f s.e.", off), ok ? "ok" : "OUTSIDE"
end

puts "jprof's amounts are the cumulative ones of the rows", "  #{names.join(', ')}."
exit 0 if outside == 0
abort "#{outside} of #{owners.size} amounts outside #{LIMIT} standard errors. Chance alone does that in one " \
      "run of 300,000: jprof or the sample is wrong. Please report it."

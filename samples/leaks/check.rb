# Compares what grew between two snapshots with what leaks.rb leaked.
#
# usage: ruby check.rb TRUTH REPORT
#
# TRUTH is what leaks.rb printed, REPORT that of: jprof --show_bytes --errors --base=EARLY.jprof LATE.jprof. Prints the row of
# each leak. Exits with 1 if one is not on the first screen, by its line of leaks.rb, or lies outside five standard errors of
# what was leaked where that is known. One sample stands for RATE bytes.
SCREEN = 24
RATE = 131_072
LIMIT = 5

truth = File.readlines(ARGV.fetch(0)).grep(/\A[A-Z]\w* \d+ /).map(&:split)
screen = File.readlines(ARGV.fetch(1)).first(SCREEN)
abort "check.rb: leaks.rb said of #{truth.size} leaks, not of 3" unless truth.size == 3
faults = truth.filter_map do |name, line, count, bytes|
  row = screen.find { |text| text =~ /leaks\.rb:#{line}\b/ }
  next "#{name}: no row of leaks.rb:#{line}" unless row
  says, error, bytes = row.split.first.to_i, row[/flat \+-(\d+)/, 1].to_i, bytes.to_i
  off = bytes.zero? ? 0 : (says - bytes) / Math.sqrt(bytes * RATE)
  puts format("%-9s leaked %5d objects%s; jprof says %.2f MB +- %.2f at %s", name, count.to_i,
              bytes.zero? ? "" : format(", %.2f MB", bytes / 1e6), says / 1e6, error / 1e6,
              row.split(/\s{2,}flat /).first.split(nil, 6).last.strip)
  "#{name}: outside five standard errors" if off.abs > LIMIT || says <= 0
end
abort "check.rb: #{faults.join('; ')}\n#{screen.join}" unless faults.empty?

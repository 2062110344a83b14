# Compares what grew between two bundles with what was leaked.
#
# usage: ruby check.rb REPORT ROWS
#
# REPORT is that of: jprof --show_bytes --errors --diff_base=WARM.jprof STEADY.jprof. ROWS of Leaky.parse_row were leaked between the
# two, of the size class that 1000 bytes fall into. Exits with 1 if that lies outside of jprof's interval widened
# to five standard errors, or if the line of puma.rb that calls parse_row is not what grew most.
ROW = 1024

report, rows = File.readlines(ARGV.fetch(0)), Integer(ARGV.fetch(1))
line = File.readlines(File.join(__dir__, "puma.rb")).index { |text| text.include?("Leaky.parse_row(") } + 1
leak = /\ssamples\/puma\/puma\.rb:#{line}\s/
grown = report.drop(1).first.to_s
abort "check.rb: puma.rb:#{line} should have grown most:\n#{report.first(5).join}" unless grown =~ leak
error = grown[/flat \+-(\d+)/, 1] || abort("check.rb: no error in: #{grown}")
says, error, truth = grown.split.first.to_i, error.to_i, rows * ROW
off = (says - truth) / error.to_f
puts format("leaked: %d rows, %.2f MB; jprof says %.2f MB +- %.2f MB (%+.1f s.e.)", rows, truth / 1e6, says / 1e6,
            error / 1e6, off)
abort "check.rb: outside five standard errors" if off.abs > 5

# 100,000 blocks of 1 KB from Fiddle.malloc, of which half are freed. ObjectSpace knows nothing of the others.
# Each line of standard input makes it happen once; so in the other programs here.
require 'fiddle'

def leak
  pointers = Array.new(100_000) { Fiddle.malloc(1024) }
  pointers.first(50_000).each { |pointer| Fiddle.free(pointer) }
end

puts 'ready'
$stdout.flush
$stdin.each_line do
  leak
  puts 'done'
  $stdout.flush
end

# Arrays, Hashes and Strings of known numbers, and blocks of which every second one is freed. Says what Ruby thinks that the
# objects of a class have beside their slots, then "end", and stays.
require "fiddle"
require "objspace"
class Tags < Array; end
class Index < Hash; end
class Note < String; end
KEPT = [Array.new(20_000) { |i| Tags.new(40, i) }, Array.new(3_000) { h = Index.new; 20.times { |k| h[k] = k }; h },
        Array.new(4_000) { |i| Note.new("") << "text #{i} " * 60 }, Note.new("", capacity: 3_000_000) << "z" * 3_000_000]
BLOCKS = Array.new(40_000) { Fiddle.malloc(1_000) }
BLOCKS.each_slice(2) { |freed, _| Fiddle.free(freed) }
2.times { GC.start }
GC.disable
[Tags, Index, Note].each do |c|
  slot = ObjectSpace.memsize_of(c.new)
  puts "#{c} #{ObjectSpace.each_object(c).sum { |o| ObjectSpace.memsize_of(o) - slot }}"
end
puts "end 1"
STDOUT.flush
sleep 600

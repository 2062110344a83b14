# A program that leaks objects of one kind, in lines whose numbers it says, while others work and keep nothing.
#   ruby slot_leaks.rb KIND COUNT    then a line of standard input for each round; "ready LINE" after each
require "json"
require "set"

Node = Struct.new(:id, :parent)
class Order
  def initialize(id)
    @id = id
    @state = :new
  end
end

$kept = []
$table = {}
$seen = Set.new

LEAKS = {
  "strings" => [->(i) { $kept << "order number #{i}" }, __LINE__],
  "objects" => [->(i) { $kept << Order.new(i) }, __LINE__],
  "structs" => [->(i) { $kept << Node.new(i, nil) }, __LINE__],
  "arrays" => [->(i) { $kept << [i, i + 1, i + 2] }, __LINE__],
  "hashes" => [->(i) { $kept << { id: i, state: 1 } }, __LINE__],
  "json" => [->(i) { i % 8 == 0 && $kept << JSON.parse(%({"id":#{i},"tags":["a#{i}","b#{i}"],"at":{"x":1.5,"y":"#{i}"}})) }, __LINE__],
  "table" => [->(i) { $table["key #{i}"] = i }, __LINE__],
  "closures" => [->(i) { i % 4 == 0 && $kept << proc { i } }, __LINE__],
  "thread" => [->(i) { (Thread.main[:log] ||= []) << "line #{i} of a log" }, __LINE__],
  "set" => [->(i) { $seen << "user-#{i}" }, __LINE__],
}.freeze

def others(i)
  text = JSON.generate({ "id" => i, "items" => [1, 2, 3].map { |n| "item #{n}" } })
  JSON.parse(text)["items"].map(&:upcase).join(",")
end

leak, line = LEAKS.fetch(ARGV[0])
count = ARGV[1].to_i
at = 0
# The last round is twice as large, so that it is of no slower pace where the machine is.
rounds = 0
round = lambda do
  count *= 2 if (rounds += 1) == 3
  count.times { |i| leak.call(at + i); others(i) if i % 10 == 0 }
  at += count
  GC.start
  puts "ready #{line}"
  $stdout.flush
end
round.call
round.call while $stdin.gets

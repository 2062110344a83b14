# Sends requests to the shop, of another customer each time, and ends when all are answered.
#
# usage: ruby load.rb REQUESTS   PORT=3000; waits until the server is up
require "net/http"

PORT = Integer(ENV.fetch("PORT", 3000))
COUNT = Integer(ARGV[0])
FIRST = Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)

def ask(path)
  reply = Net::HTTP.get_response(URI("http://127.0.0.1:#{PORT}#{path}"))
  abort "load.rb: #{path}: #{reply.code}" unless reply.is_a?(Net::HTTPOK)
end

tries = 0
begin
  ask("/")
rescue SystemCallError
  abort "load.rb: nobody answers on port #{PORT}" if (tries += 1) > 240
  sleep 0.25
  retry
end
work = Queue.new
COUNT.times { |i| work << (i % 5 == 4 ? "/" : "/products/#{i}?customer=#{FIRST + i}") }
work.close
Array.new(4) { Thread.new { while (path = work.pop) do ask(path) end } }.each(&:join)

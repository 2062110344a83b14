# Sends requests to the application: other pages each time, as people do.
#
# usage: ruby load.rb PORT REQUESTS   waits until the server is up; ends with 1 where it does not answer
#   PAUSE=0   seconds that each of the four clients waits before a request
require "net/http"

PORT, REQUESTS = ARGV.map { |word| Integer(word) }
CLIENTS = 4
PAUSE = Float(ENV.fetch("PAUSE", 0))
START = Process.clock_gettime(Process::CLOCK_REALTIME, :microsecond)

def ask(path)
  reply = Net::HTTP.get_response(URI("http://127.0.0.1:#{PORT}#{path}"))
  abort "load.rb: #{path}: #{reply.code}" unless reply.is_a?(Net::HTTPOK)
end

def wait_for_server
  240.times do
    return ask("/")
  rescue SystemCallError
    sleep 0.25
  end
  abort "load.rb: nobody answers on port #{PORT}"
end

wait_for_server
paths = Queue.new
REQUESTS.times { |i| paths << "/prices/#{START + i}" }
paths.close
Array.new(CLIENTS) do
  Thread.new do
    Thread.current.report_on_exception = false
    while (path = paths.pop)
      sleep PAUSE
      ask(path)
    end
  end
end.each(&:join)

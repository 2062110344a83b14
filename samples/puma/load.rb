# Sends requests to the sample cluster and checks that each is answered.
#
# usage: ruby load.rb PORT REQUESTS [LEAKS]
#
# Waits until the server is up. REQUESTS go to /json and /html in turn, LEAKS more to /leak?10, which leaves 10 rows
# in one worker or the other.
require "socket"

PORT, REQUESTS, LEAKS = ARGV.map { |word| Integer(word) }
CLIENTS = 4

def ask(path)
  TCPSocket.open("127.0.0.1", PORT) do |socket|
    socket.write("GET #{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    reply = socket.read
    reply.start_with?("HTTP/1.1 200") or abort "load.rb: #{path}: #{reply.lines.first.inspect}"
  end
end

def wait_for_server
  120.times do
    return ask("/json?1")
  rescue SystemCallError
    sleep 0.5
  end
  abort "load.rb: nobody answers on port #{PORT}"
end

wait_for_server
paths = Queue.new
REQUESTS.times { |i| paths << (i.even? ? "/json?200" : "/html?20") }
LEAKS.to_i.times { paths << "/leak?10" }
paths.close
Array.new(CLIENTS) do
  Thread.new do
    Thread.current.report_on_exception = false
    while (path = paths.pop)
      ask(path)
    end
  end
end.each(&:join)

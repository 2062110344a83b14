# frozen_string_literal: true

# The process that `rake jprof:check` measures: boots the application of config.ru, asks it, and takes three snapshots of itself.
# usage: ruby asker.rb JPROF PATH COUNT FIRST BETWEEN LAST    under `jprof run`; a fifth of COUNT comes before the first
require "rack"
require "rack/mock"

program, path, count, *snapshots = ARGV
count = Integer(count)
app, = Rack::Builder.parse_file(File.expand_path("config.ru"))
Rails.application.eager_load! if defined?(Rails.application.eager_load!)
client = Rack::MockRequest.new(app)

ask = lambda do |times|
  times.times do
    # As through a proxy with TLS, from this machine: Rails lets both pass.
    status = client.get("https://localhost#{path}", "HTTP_HOST" => "localhost", "REMOTE_ADDR" => "127.0.0.1").status
    abort "jprof:check: GET #{path}: #{status}" if status >= 400
  end
end
warm = count / 5
rounds = [warm, (count - warm) / 2, count - warm - ((count - warm) / 2)]
snapshots.zip(rounds) do |snapshot, times|
  ask.call(times)
  said = IO.popen({ "LD_PRELOAD" => nil }, [program, "snap", "--gc", "--label=jprof-check", "-o", snapshot, Process.pid.to_s, err: %i[child out]], &:read)
  $?.success? or abort "jprof:check: no snapshot: #{said}"
end

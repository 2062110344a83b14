# A middleware that subscribes in each request and never unsubscribes: the subscriber's block keeps the request.
require 'active_support'
require 'active_support/notifications'

class Logging
  def call(env)
    body = 'x' * 4_000
    ActiveSupport::Notifications.subscribe("sql.#{env[:id] % 10}") { |*| body.size + env.size }
    body.size
  end
end

requests = 0
puts 'ready'
$stdout.flush
$stdin.each_line do
  5_000.times { Logging.new.call({ id: requests += 1, path: "/users/#{requests}" }) }
  puts 'done'
  $stdout.flush
end

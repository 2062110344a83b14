# The Railtie of ruby/lib under a Rails::Railtie that only notes what it is told, with the ActiveJob and Sidekiq that are installed.
# packaging/gem-use.sh has a real Rails. usage: ruby railtie.rb; exits 77 where ActiveSupport is not installed.
begin
  require 'active_support'
  require 'active_support/lazy_load_hooks'
rescue LoadError
  puts 'no active_support here'
  exit 77
end
require_relative 'check'
def there?(library)
  require library
  true
rescue LoadError
  false
end

require 'jprof'
check 'without Rails no Railtie', defined?(Jprof::Railtie), nil
check 'and no middleware', defined?(Jprof::Rack), nil

module Rails
  class Railtie
    NOTED = { initializers: {}, tasks: [] }
    def self.initializer(name, &block) = NOTED[:initializers][name] = block
    def self.rake_tasks(&block) = NOTED[:tasks] << block
  end
end
job, sidekiq = there?('active_job'), there?('sidekiq')
load "#{__dir__}/../../ruby/lib/jprof.rb"
check 'Railtie', Jprof::Railtie.superclass, Rails::Railtie
check 'one initializer', Rails::Railtie::NOTED[:initializers].keys, ['jprof.tags']

used = []
app = Struct.new(:middleware).new(Object.new.tap { |stack| stack.define_singleton_method(:use) { |one| used << one } })
server = Sidekiq.singleton_class.prepend(Module.new { def server? = true }) if sidekiq
Rails::Railtie::NOTED[:initializers]['jprof.tags'].call(app)
check 'middleware', used, [Jprof::Rack]

if job
  ActiveJob::Base.logger = nil
  ActiveJob::Base.queue_adapter = :inline
  class SomeJob < ActiveJob::Base
    def perform = $tag = Jprof.current
  end
  SomeJob.perform_later
  check 'a job of ActiveJob', $tag, 'SomeJob'
end
if sidekiq
  # Sidekiq 7 has a configuration of its own.
  config = Sidekiq.respond_to?(:default_configuration) ? Sidekiq.default_configuration : Sidekiq
  chain = config.server_middleware.entries.map(&:klass)
  check 'Sidekiq', chain.count(Jprof::Sidekiq), 1
end

if there?('rake')
  check 'no task yet', Rake::Task.task_defined?('jprof:check'), false
  Rails::Railtie::NOTED[:tasks].each(&:call)
  check 'task', Rake::Task.task_defined?('jprof:check'), true
end
puts "#{$failures} wrong; ActiveJob: #{job}, Sidekiq: #{sidekiq}"
exit $failures.zero? ? 0 : 1

# The middleware of ruby/lib under the frameworks themselves: what an action sees as its tag, and that nothing a user sends
# is in one. usage: ruby tags_web.rb rack|sinatra|rails|sidekiq|active_job; exits 77 where that is not installed.
framework = ARGV.fetch(0)
begin
  case framework
  when 'rack' then require 'rack'
  when 'sinatra' then require 'sinatra/base'
  when 'rails' then %w[action_controller action_dispatch].each { |file| require file }
  when 'sidekiq' then %w[sidekiq sidekiq/testing].each { |file| require file }
  when 'active_job' then require 'active_job'
  end
  require 'rack/mock' if %w[rack sinatra rails].include?(framework)
rescue LoadError
  puts "no #{framework} here"
  exit 77
end
require 'jprof/rack'
require 'jprof/sidekiq'
require 'jprof/active_job'
require_relative 'check'

# Of route and job; what a thread has between them.
def now = Thread.current[:__jprof_tag]&.then { |number| Jprof::TEXTS[number] }
def secret_free(*secrets)
  secrets.each { |secret| check "#{secret} is in no text", Jprof::TEXTS.grep(/#{secret}/), [] }
  check 'no tag stays', now, nil
end

def on_rack
  app = ->(env) { [200, {}, [now.to_s]] }
  known = Jprof::Rack.new(app, route: ->(env) { env['my.route'] })
  mock = Rack::MockRequest.new(known)
  check 'a route that is given', mock.get('/secret', 'my.route' => 'GET /:word').body, 'route GET /:word'
  check 'none', mock.get('/secret').body, ''
  check 'a route that raises', Rack::MockRequest.new(Jprof::Rack.new(app, route: ->(_) { raise 'x' })).get('/secret').body, ''
  plain = Rack::MockRequest.new(Jprof::Rack.new(app))
  check 'without a framework', plain.get('/secret').body, ''
  check 'an app that raises', (Jprof::Rack.new(->(_) { raise 'x' }).call({}) rescue $!.message), 'x'
  secret_free 'secret'
end

def on_sinatra
  app = Class.new(Sinatra::Base) do
    set environment: :production, protection: false
    use Jprof::Rack
    before { @before = now.inspect }
    get('/before') { @before }
    get('/users/:id') { now }
    post('/users/:id') { now }
    get('/halts/:id') { halt 500, now }
    get('/raises/:id') { raise 'x' }
    get('/files/*') { now }
    get('/passes/:id') { pass }
    get('/passes/*') { now }
    error { "#{now.inspect} in a handler" }
  end
  mock = Rack::MockRequest.new(app)
  { '/users/secret?x=hidden' => 'route GET /users/:id', '/halts/secret' => 'route GET /halts/:id', '/before' => 'nil',
    '/files/secret/b' => 'route GET /files/*', '/passes/secret' => 'route GET /passes/*',
    '/raises/secret' => 'nil in a handler' }.each { |url, text| check url, mock.get(url).body, text }
  check 'POST', mock.post('/users/secret').body, 'route POST /users/:id'
  check 'not found', mock.get('/secret').status, 404
  secret_free 'secret', 'hidden'
end

module Shows
  def self.included(controller) = %i[show index create].each { |name| controller.define_method(name) { render plain: now } }
end

def on_rails
  routes = ActionDispatch::Routing::RouteSet.new
  routes.draw do
    resources :users, only: %i[show index create]
    get 'a/:id' => 'api#show'
    get 'b/:id' => 'api#show'
    get 'b/:id/:x' => 'api#show'
    get 'live/:id' => 'live#show'
    get 'pages(/:page)' => 'api#index'
  end
  Object.const_set(:UsersController, Class.new(ActionController::Base) { include routes.url_helpers, Shows })
  Object.const_set(:ApiController, Class.new(ActionController::API) { include routes.url_helpers, Shows })
  Object.const_set(:LiveController, Class.new(ActionController::Base) do
    include routes.url_helpers, ActionController::Live
    define_method(:show) do
      response.stream.write now
    ensure
      response.stream.close
    end
  end)
  mock = Rack::MockRequest.new(Jprof::Rack.new(routes))
  # Two routes lead there with the same parameters: before Rails says which it is, none is said.
  two = ActionPack.version >= Gem::Version.new('7.1') ? 'route GET /a/:id' : 'route api#show'
  2.times do
    { '/users/secret?x=hidden' => 'route GET /users/:id', '/users/secret.json' => 'route GET /users/:id',
      '/users' => 'route GET /users', '/b/secret/hidden' => 'route GET /b/:id/:x', '/live/secret' => 'route GET /live/:id',
      '/pages/secret' => 'route GET /pages(/:page)', '/pages' => 'route GET /pages(/:page)',
      '/a/secret' => two }.each { |url, text| check url, mock.get(url).body, text }
  end
  check 'POST', mock.post('/users').body, 'route POST /users'
  check 'HEAD', mock.request('HEAD', '/users/secret').status, 200
  check 'the verb of HEAD', Jprof::TEXTS.grep(/HEAD/), []
  secret_free 'secret', 'hidden'
end

def on_sidekiq
  jobs = Class.new { include Sidekiq::Worker; def perform(secret) = $seen = now }
  Object.const_set(:HardJob, jobs)
  Sidekiq::Testing.server_middleware { |chain| chain.add Jprof::Sidekiq }
  Sidekiq::Testing.inline! { HardJob.perform_async('secret') }
  check 'a job', $seen, 'job HardJob'
  Jprof::Sidekiq.new.call(nil, { 'class' => 'Adapter', 'wrapped' => 'MailJob', 'args' => ['secret'] }, 'q') { $seen = now }
  check "ActiveJob's", $seen, 'job MailJob'
  secret_free 'secret'
end

def on_active_job
  Object.const_set(:MailJob, Class.new(ActiveJob::Base) { include Jprof::ActiveJob; def perform(secret) = $seen = now })
  ActiveJob::Base.logger = nil
  ActiveJob::Base.queue_adapter = :inline
  MailJob.perform_later('secret')
  check 'a job', $seen, 'job MailJob'
  secret_free 'secret'
end
send("on_#{framework}")
exit $failures.zero?

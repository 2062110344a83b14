require "bundler/setup"
require "rails"
require "action_controller/railtie"
require "action_view/railtie"

module Shop
  class Application < Rails::Application
    config.load_defaults Rails::VERSION::STRING.to_f
    config.eager_load = true
    config.secret_key_base = "of a sample"
    config.logger = Logger.new(nil)
    if ENV["JPROF_RUBY"]
      require "jprof/rack"
      config.middleware.use Jprof::Rack
    end
  end
end

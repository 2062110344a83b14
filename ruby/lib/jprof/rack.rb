# frozen_string_literal: true

require "jprof"

# Rack: what a request allocates has the route as its tag, where Rails, Sinatra or Roda say which it is.
#
#     use Jprof::Rack                                     # config.ru, Sinatra, Roda
#     config.middleware.use Jprof::Rack                   # Rails
#     use Jprof::Rack, route: ->(env) { env["my.route"] } # another framework: its template, nil if there is none
#
# A tag is the verb and the template, "GET /users/:id"; never the URL, which is another one for each user. The frameworks
# tag what runs in the route's block or action. What the server and other middleware do around it has no tag.
module Jprof
  class Rack
    # By the constant that has the framework.
    FRAMEWORKS = { ActionController: "jprof/rails", Sinatra: "jprof/sinatra", Roda: "jprof/roda" }.freeze

    def self.install
      FRAMEWORKS.each { |name, file| require file if Object.const_defined?(name, false) }
    end

    def initialize(app, route: nil)
      @app = app
      @route = route
      self.class.install
    end

    def call(env)
      return @app.call(env) unless @route

      Jprof.tag(route_of(env), :route) { @app.call(env) }
    end

    private

    def route_of(env)
      @route.call(env)
    rescue StandardError
      nil
    end
  end
end

# frozen_string_literal: true

require "jprof"
require "sinatra/base"

module Jprof
  # A route's block runs with the route as its tag: "GET /users/:id", as Sinatra keeps it in env.
  module Sinatra
    private

    def route_eval(&block)
      Jprof.tag(env["sinatra.route"], :route) { super(&block) }
    end
  end
end

Sinatra::Base.prepend(Jprof::Sinatra) if Sinatra::Base.private_method_defined?(:route_eval)

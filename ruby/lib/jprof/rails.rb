# frozen_string_literal: true

require "jprof"

module Jprof
  # An action runs with its route as tag: "GET /users/:id". Where it cannot be said which of several routes it is, the
  # tag is "users#show".
  module Rails
    ROUTES = {} # rubocop:disable Style/MutableConstant -- by what tells them apart, at most MOST_ROUTES
    MOST_ROUTES = 4096
    OF_ALL = %i[controller action].freeze
    private_constant :ROUTES, :MOST_ROUTES, :OF_ALL

    def process_action(*)
      Jprof.tag(Rails.route_of(self), :route) { super }
    end

    class << self
      def route_of(controller)
        request = controller.request
        action = "#{controller.class.controller_path}##{controller.action_name}"
        pattern = request.route_uri_pattern if request.respond_to?(:route_uri_pattern) # Rails 7.1
        return with_verb(request, pattern) if pattern

        names = request.path_parameters.keys - OF_ALL
        key = [controller.class.name, action, verb_of(request), names]
        ROUTES[key] || keep(key, find(controller, request, names) || action)
      rescue StandardError
        action
      end

      private

      def keep(key, route)
        ROUTES.size < MOST_ROUTES ? ROUTES[key] = route : route
      end

      def verb_of(request)
        request.head? ? "GET" : request.request_method
      end

      def with_verb(request, pattern)
        "#{verb_of(request)} #{pattern.delete_suffix('(.:format)')}"
      end

      # The one route that leads to the action with parameters of these names.
      def find(controller, request, names)
        wanted = request.path_parameters.slice(*OF_ALL)
        found = controller._routes.routes.select do |route|
          verb = route.verb
          route.defaults.slice(*OF_ALL) == wanted && (verb.empty? || verb.split("|").include?(verb_of(request))) &&
            fits?(route, names)
        end
        patterns = found.map { |route| route.path.spec.to_s }.uniq
        with_verb(request, patterns.first) if patterns.size == 1
      end

      def fits?(route, names)
        (route.required_parts - names).empty? && (names - route.parts - route.defaults.keys).empty?
      end
    end
  end
end

ActiveSupport.on_load(:action_controller) { include Jprof::Rails }

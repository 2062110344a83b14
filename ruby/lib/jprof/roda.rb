# frozen_string_literal: true

require "jprof"
require "roda"

module Jprof
  # Roda has no templates: they are made of what its blocks match by. r.on("users") { r.get(Integer) { ... } } is
  # "GET /users/:integer" in the inner block, and "GET /users/*" around it. What a matcher has captured is not looked at.
  module Roda
    VERBS = %w[GET HEAD POST PUT PATCH DELETE OPTIONS].freeze

    private

    def if_match(args)
      outer = @jprof_route
      super(args) do |*captures|
        @jprof_route = "#{outer}#{Roda.template(args)}"
        ends = args.last.equal?(::Roda::RodaPlugins::Base::RequestMethods::TERM)
        jprof_tag(ends ? @jprof_route : "#{@jprof_route}/*") { yield(*captures) }
      end
    ensure
      @jprof_route = outer
    end

    def always
      super() { jprof_tag(@jprof_route) { yield } }
    end

    def jprof_tag(route, &block)
      verb = env["REQUEST_METHOD"]
      route = "/" if route.nil? || route.empty?
      Jprof.tag("#{VERBS.include?(verb) ? verb : 'OTHER'} #{route}", :route, &block)
    end

    class << self
      def template(matchers)
        matchers.map { |matcher| segment(matcher) }.join
      end

      private

      def segment(matcher)
        case matcher
        when String then "/#{matcher}"
        when Symbol then "/:#{matcher}"
        when Class then "/:#{(matcher.name || 'class').downcase}"
        when Regexp then "/:match"
        when Array then "/:any"
        end
      end
    end
  end
end

Roda::RodaRequest.prepend(Jprof::Roda)

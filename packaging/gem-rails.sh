#!/bin/sh
# The gem in a Rails application, where its line in the Gemfile is all: `bin/rails jprof:check` names the line that keeps memory,
# with its route or job. The gem is installed; rails and libjemalloc2, too.
# usage: sh packaging/gem-rails.sh
set -eu

die() {
    echo "gem-rails.sh: $*" >&2
    for file in out err; do [ ! -s "$file" ] || tail -n 25 "$file" >&2; done
    exit 1
}

work=$(mktemp -d)
trap 'cd / && rm -rf "$work"' EXIT
cd "$work"
mkdir -p bin config app/controllers app/jobs
printf 'source "https://rubygems.org"\ngem "rails"\ngem "jprof"\n' >Gemfile
echo 'ENV["BUNDLE_GEMFILE"] ||= File.expand_path("../Gemfile", __dir__); require "bundler/setup"; require "logger"' >config/boot.rb
cat >config/application.rb <<'END'
require_relative "boot"
require "rails"
require "action_controller/railtie"
require "active_job/railtie"
Bundler.require(*Rails.groups)
class Shop < Rails::Application
  config.eager_load = false
  config.secret_key_base = "0" * 64
  config.logger = Logger.new(nil)
  routes.append do
    get "/v1/status", to: "items#status"
    get "/v1/items/:id", to: "items#show"
    get "/v1/jobs/:id", to: "items#later"
  end
end
END
cat >app/controllers/items_controller.rb <<'END'
class ItemsController < ActionController::API
  KEPT = []
  def status = head(:ok)
  def show
    KEPT << ("x" * 20_000) # line 5
    head :ok
  end
  def later
    KeepJob.perform_now
    head :ok
  end
end
END
cat >app/jobs/keep_job.rb <<'END'
class KeepJob < ActiveJob::Base
  KEPT = []
  def perform
    KEPT << ("x" * 20_000) # line 4
  end
end
END
echo 'require_relative "application"; Rails.application.initialize!' >config/environment.rb
echo 'require_relative "config/environment"; run Rails.application' >config.ru
echo 'require_relative "config/application"; Rails.application.load_tasks' >Rakefile
echo 'APP_PATH = File.expand_path("../config/application", __dir__); require_relative "../config/boot"; require "rails/commands"' >bin/rails

asked() { # STATUS PATH
    status=0
    ruby bin/rails jprof:check "PATH=$2" COUNT=1000 >out 2>err || status=$?
    [ "$status" -eq "$1" ] || die "bin/rails jprof:check PATH=$2: exit status $status, not $1"
}
asked 3 /v1/items/7
grep -q '^1 .*items_controller.rb:5' out || die "jprof:check does not name the line first"
grep -q 'GET /v1/items/:id' out || die "jprof:check does not name the route"
asked 3 /v1/jobs/7
grep -q '^1 .*keep_job.rb:4' out || die "jprof:check does not name the job's line first"
grep -q 'KeepJob' out || die "jprof:check does not name the job"
asked 0 /v1/status
asked 1 /v1/none
echo "bin/rails jprof:check works: Rails $(ruby -e 'puts Gem::Specification.find_by_name("railties").version')"

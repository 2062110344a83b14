require_relative "config/application"
Shop::Application.initialize!
run Shop::Application

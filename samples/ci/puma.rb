workers 2
threads 2, 2
preload_app!
bind "tcp://127.0.0.1:#{ENV.fetch("PORT", 9292)}"
quiet

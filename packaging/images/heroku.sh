# For .profile.d/jprof.sh of an application on Heroku, which every dyno reads before its process starts. The slug holds
# bin/jprof (jprof-static), lib/jprof/libjprof-agent-glibc.so and lib/libjemalloc.so.2, one with profiling.
# Only one dyno pays for the samples; it makes a dump every hour. /app is the slug.
if [ "${DYNO:-}" = web.1 ]; then
    export LD_PRELOAD="/app/lib/jprof/libjprof-agent-glibc.so:/app/lib/libjemalloc.so.2"
    export MALLOC_CONF="prof:true,prof_active:true,lg_prof_sample:17,prof_prefix:/tmp/app"
    export JPROF_AGENT="every=1h"
fi
# A dyno's files go with it, so a bundle leaves by a PUT to a URL that the owner signed:
# NOT RUN: needs Heroku
#     heroku ps:exec --dyno=web.1
#     /app/bin/jprof snap --puma -o /tmp/now.jprof
# NOT RUN: needs a URL
#     curl -T /tmp/now.jprof "$UPLOAD_URL"

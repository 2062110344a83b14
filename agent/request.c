#include "request.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "epoch.h"
#include "jemalloc.h"
#include "memory.h"
#include "ruby/dumptable.h"
#include "ruby/objectgraph.h"
#include "ruby/ruby.h"
#include "ruby/ruby_stacks.h"
#include "ruby/slots.h"
#include "self.h"
#include "textbuf.h"
#include "thread.h"
#include "wake.h"

enum { TIMEOUT_MS = 2000, TIMEOUT_MAX = 60000, LABEL_MAX = 64 };

struct arguments {
	const char *label;
	bool gc;
	bool fds;
	bool tables;
	bool objects;
	bool graph;
	unsigned timeout;
};

static int our_signal;
static const char *our_triggers = "";
static unsigned handed_over; /* by the request that is answered */

void request_init(int signo, const char *triggers)
{
	our_signal = signo;
	our_triggers = triggers;
}

static void reply_refusal(struct textbuf *reply, const char *error)
{
	textbuf_str(reply, "{\"ok\":false,\"error\":");
	textbuf_json(reply, error);
	textbuf_str(reply, "}\n");
}

static void add_bool(struct textbuf *reply, const char *key, bool value)
{
	textbuf_printf(reply, ",\"%s\":%s", key, value ? "true" : "false");
}

static void add_json_string(struct textbuf *reply, const char *key, const char *value)
{
	textbuf_printf(reply, ",\"%s\":", key);
	textbuf_json(reply, value);
}

static const char *or_null(const char *s)
{
	return *s ? s : NULL;
}

static void reply_report(const struct arguments *arguments, struct textbuf *reply)
{
	const struct dump_history *history = dump_history();
	(void)arguments;
	textbuf_str(reply, "{\"ok\":true,\"protocol\":1,\"version\":\"" JPROF_VERSION "\",");
	self_json(reply);
	add_json_string(reply, "jemalloc", jemalloc_string("version"));
	add_bool(reply, "prof_active", jemalloc_bool("prof.active"));
	textbuf_printf(reply, ",\"lg_sample\":%zu", jemalloc_size("prof.lg_sample"));
	add_json_string(reply, "prefix", jemalloc_string("opt.prof_prefix"));
	textbuf_printf(reply, ",\"signal\":%d", our_signal);
	add_bool(reply, "signal_owned", signal_owned(our_signal));
	add_bool(reply, "fds", dump_hands_over());
	add_bool(reply, "tables", dumptable_is_on());
	add_json_string(reply, "ruby", ruby_version_text());
	add_bool(reply, "ruby_stacks", !ruby_stacks_refusal());
	add_json_string(reply, "ruby_stacks_why", ruby_stacks_refusal());
	add_bool(reply, "ruby_slots", !slots_refusal());
	add_json_string(reply, "ruby_slots_why", slots_asked() ? slots_refusal() : NULL);
	add_bool(reply, "objects", ruby_objects_known());
	add_bool(reply, "graph", objectgraph_known());
	add_bool(reply, "epochs", dumptable_is_on() && epoch_is_on());
	add_json_string(reply, "triggers", our_triggers);
	textbuf_printf(reply, ",\"dumps\":%u", history->made);
	add_json_string(reply, "last_dump", or_null(history->last_dump));
	add_json_string(reply, "last_error", or_null(history->last_error));
	textbuf_str(reply, "}\n");
}

static void reply_dump(const struct arguments *arguments, struct textbuf *reply)
{
	struct dump_request request = { .reason = "socket",
		                        .label = arguments->label,
		                        .gc = arguments->gc,
		                        .timeout = arguments->timeout,
		                        .fds = arguments->fds,
		                        .table = arguments->tables,
		                        .objects = arguments->objects,
		                        .graph = arguments->graph && arguments->fds && arguments->objects };
	const struct dump_result *result;
	if (!dump_make(&request, &result)) {
		reply_refusal(reply, result->error);
		return;
	}
	textbuf_str(reply, "{\"ok\":true");
	add_json_string(reply, "dump", result->dump);
	add_json_string(reply, "sidecar", result->sidecar);
	if (arguments->tables || !arguments->fds)
		add_json_string(reply, "table", or_null(result->table));
	if (arguments->fds)
		textbuf_printf(reply, ",\"fds\":%u", result->fds);
	if (arguments->fds && !result->fds)
		add_json_string(reply, "why", result->direct);
	handed_over = result->fds + result->graph;
	if (arguments->graph)
		add_bool(reply, "graph", result->graph);
	if (arguments->graph && !result->graph)
		add_json_string(reply, "graph_why",
		                *result->graph_why ? result->graph_why : "it is to be had with fds=1 and objects=1");
	textbuf_printf(reply, ",\"seq\":%u", result->seq);
	add_json_string(reply, "gc", result->ruby.gc);
	textbuf_printf(reply, ",\"milliseconds\":%u}\n", result->milliseconds);
}

static void reply_stats(const struct arguments *arguments, struct textbuf *reply)
{
	(void)arguments;
	textbuf_str(reply, "{\"ok\":true,\"stats\":");
	jemalloc_stats(reply);
	textbuf_str(reply, "}\n");
}

static void set_active(bool active, struct textbuf *reply)
{
	bool was;
	if (jemalloc_activate(active, &was) != 0) {
		reply_refusal(
		    reply,
		    "jemalloc does not let prof.active be changed; profiling must be on (prof:true in MALLOC_CONF)");
		return;
	}
	textbuf_str(reply, "{\"ok\":true");
	add_bool(reply, "was", was);
	textbuf_str(reply, "}\n");
}

static void reply_activate(const struct arguments *arguments, struct textbuf *reply)
{
	(void)arguments;
	set_active(true, reply);
}

static void reply_deactivate(const struct arguments *arguments, struct textbuf *reply)
{
	(void)arguments;
	set_active(false, reply);
}

static bool is_label(const char *s)
{
	static const char may[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	size_t len = strlen(s);
	return len > 0 && len <= LABEL_MAX && strspn(s, may) == len;
}

static bool is_number(const char *s, unsigned long max, unsigned long *value)
{
	char *end;
	if (*s < '0' || *s > '9')
		return false;
	*value = strtoul(s, &end, 10);
	return !*end && *value <= max;
}

static bool take_switch(const char *word, const char *key, bool *value)
{
	unsigned long n;
	if (strncmp(word, key, strlen(key)) != 0 || !is_number(word + strlen(key), 1, &n))
		return false;
	*value = n;
	return true;
}

/* Returns what is wrong with the word, NULL if it was taken. */
static const char *take_argument(struct arguments *arguments, const char *word)
{
	unsigned long n;
	if (strncmp(word, "label=", 6) == 0) {
		arguments->label = word + 6;
		return is_label(word + 6) ? NULL : "a label is 1 to 64 of A-Za-z0-9._-";
	}
	if (strncmp(word, "timeout=", 8) == 0) {
		if (!is_number(word + 8, TIMEOUT_MAX, &n))
			return "a timeout is 0 to 60000 milliseconds";
		arguments->timeout = (unsigned)n;
		return NULL;
	}
	if (take_switch(word, "gc=", &arguments->gc) || take_switch(word, "fds=", &arguments->fds) ||
	    take_switch(word, "tables=", &arguments->tables) || take_switch(word, "objects=", &arguments->objects) ||
	    take_switch(word, "graph=", &arguments->graph))
		return NULL;
	if (strncmp(word, "gc=", 3) == 0)
		return "gc is 0 or 1";
	if (strncmp(word, "fds=", 4) == 0)
		return "fds is 0 or 1";
	if (strncmp(word, "objects=", 8) == 0)
		return "objects is 0 or 1";
	if (strncmp(word, "tables=", 7) == 0)
		return "tables is 0 or 1";
	if (strncmp(word, "graph=", 6) == 0)
		return "graph is 0 or 1";
	return "unknown argument; dump takes label=L, gc=1, timeout=MS, fds=1, tables=1, objects=1 and graph=1";
}

static void (*verb_of(const char *word))(const struct arguments *, struct textbuf *)
{
	static const struct {
		const char *name;
		void (*run)(const struct arguments *, struct textbuf *);
	} verbs[] = {
		{ "report", reply_report },         { "dump", reply_dump },
		{ "stats", reply_stats },           { "activate", reply_activate },
		{ "deactivate", reply_deactivate },
	};
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (strcmp(word, verbs[i].name) == 0)
			return verbs[i].run;
	return NULL;
}

unsigned request_answer(char *line, struct textbuf *reply)
{
	struct arguments arguments = { .timeout = TIMEOUT_MS };
	const char *wrong = thread_refusal();
	wrong = wrong ? wrong : memory_refusal(1); /* the thread's first call of jemalloc takes some */
	handed_over = 0;
	char *rest, *word = strtok_r(line, " ", &rest);
	void (*run)(const struct arguments *, struct textbuf *) = word ? verb_of(word) : NULL;
	while (run && !wrong && (word = strtok_r(NULL, " ", &rest)))
		wrong = take_argument(&arguments, word);
	if (!run && !wrong)
		wrong =
		    "unknown request; this agent knows report, dump, stats, activate and deactivate, in lines of at "
		    "most 4096 bytes";
	if (wrong)
		reply_refusal(reply, wrong);
	else
		run(&arguments, reply);
	return handed_over;
}

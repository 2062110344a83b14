#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "textbuf.h"

/* Reads a number and its unit, the last character, which must be one of `units`; the unit that follows the
 * k-th of them is `factors[k]`. Without `units` it has none. 0 where it is none, is zero or does not fit. */
static uint64_t number_with_unit(const char *s, const char *units, const uint64_t *factors)
{
	uint64_t value = 0;
	const char *unit;
	if (*s < '0' || *s > '9')
		return 0;
	for (; *s >= '0' && *s <= '9'; s++) {
		if (value > (UINT64_MAX - 9) / 10)
			return 0;
		value = value * 10 + (uint64_t)(*s - '0');
	}
	if (!*units)
		return *s ? 0 : value;
	if (!*s || s[1] || !(unit = strchr(units, *s)))
		return 0;
	if (__builtin_mul_overflow(value, factors[unit - units], &value))
		return 0;
	return value;
}

static bool set_every(struct config *config, const char *value)
{
	uint64_t seconds = number_with_unit(value, "smh", (const uint64_t[]){ 1, 60, 3600 });
	if (seconds == 0 || seconds > 86400 * 365)
		return false;
	config->every = (unsigned)seconds;
	return true;
}

static bool set_at(struct config *config, const char *value)
{
	uint64_t n;
	if (strcmp(value, "peak") == 0) {
		config->peak = true;
		return true;
	}
	if (strncmp(value, "cgroup:", 7) == 0) {
		n = number_with_unit(value + 7, "%", (const uint64_t[]){ 1 });
		if (n == 0 || n > 100)
			return false;
		config->cgroup_percent = (unsigned)n;
		return true;
	}
	if (strncmp(value, "rss:", 4) != 0)
		return false;
	n = number_with_unit(value + 4, "KMGkmg",
	                     (const uint64_t[]){ 1 << 10, 1 << 20, 1 << 30, 1 << 10, 1 << 20, 1 << 30 });
	if (n == 0)
		return false;
	config->rss = n;
	return true;
}

static bool set_on(struct config *config, const char *value)
{
	if (strcmp(value, "exit") != 0)
		return false;
	config->on_exit = true;
	return true;
}

static bool set_for(struct config *config, const char *value)
{
	size_t len = strlen(value);
	if (len == 0 || len >= sizeof config->name)
		return false;
	if (strcmp(value, "ruby") == 0)
		config->scope |= CONFIG_RUBY;
	else if (strcmp(value, "all") == 0)
		config->scope |= CONFIG_ALL;
	else {
		config->scope |= CONFIG_NAME;
		memcpy(config->name, value, len + 1);
	}
	return true;
}

/* Signals that mean a fault of the program, or that cannot be caught, are nobody's to take. */
static bool may_take(long signo)
{
	static const int never[] = { SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS };
	for (size_t i = 0; i < sizeof never / sizeof *never; i++)
		if (signo == never[i])
			return false;
	return signo >= 1 && signo <= 64;
}

static bool set_signal(struct config *config, const char *value)
{
	char *end;
	long signo = strtol(value, &end, 10);
	if (strcmp(value, "usr2") == 0)
		signo = SIGUSR2;
	else if (strcmp(value, "none") == 0)
		signo = 0;
	else if (end == value || *end || !may_take(signo))
		return false;
	config->signal = (int)signo;
	return true;
}

static bool set_socket(struct config *config, const char *value)
{
	if (strcmp(value, "off") != 0)
		return false;
	config->socket = false;
	return true;
}

/* Three octal digits, perhaps after a 0; their owner may read and write them. */
static bool set_mode(struct config *config, const char *value)
{
	const unsigned owner = 0600;
	char *end;
	unsigned long mode = strtoul(value, &end, 8);
	if (*value < '0' || *value > '7' || *end || mode > 0777 || (mode & owner) != owner)
		return false;
	config->mode = (unsigned)mode;
	return true;
}

static bool set_ruby(struct config *config, const char *value)
{
	config->ruby = strcmp(value, "on") == 0;
	return config->ruby || strcmp(value, "off") == 0;
}

static bool set_native(struct config *config, const char *value)
{
	uint64_t n = number_with_unit(value, "", NULL);
	if (n == 0 || n > 125)
		return false;
	config->native = (unsigned)n;
	return true;
}

static bool set_epoch(struct config *config, const char *value)
{
	uint64_t seconds = number_with_unit(value, "smh", (const uint64_t[]){ 1, 60, 3600 });
	bool off = strcmp(value, "off") == 0;
	if (!off && (seconds == 0 || seconds > 86400 * 365))
		return false;
	config->epoch = (unsigned)seconds;
	return true;
}

static bool set_slots(struct config *config, const char *value)
{
	uint64_t n = number_with_unit(value, "bkm", (const uint64_t[]){ 1, 1 << 10, 1 << 20 });
	bool off = strcmp(value, "off") == 0;
	if (!off && (n == 0 || n > 1 << 30))
		return false;
	config->slots = (unsigned)n;
	return true;
}

static bool set_off(struct config *config, const char *value)
{
	if (*value)
		return false;
	config->off = true;
	return true;
}

static bool apply_word(struct config *config, const char *word)
{
	static const struct {
		const char *key;
		bool (*set)(struct config *, const char *value);
	} keys[] = {
		{ "every=", set_every },   { "at=", set_at },         { "on=", set_on },       { "for=", set_for },
		{ "signal=", set_signal }, { "socket=", set_socket }, { "mode=", set_mode },   { "off", set_off },
		{ "ruby=", set_ruby },     { "native=", set_native }, { "epoch=", set_epoch }, { "slots=", set_slots },
	};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		size_t len = strlen(keys[i].key);
		if (strncmp(word, keys[i].key, len) == 0)
			return keys[i].set(config, word + len);
	}
	return false;
}

static void note_unknown(struct config *config, const char *word, size_t len)
{
	size_t used = strlen(config->unknown), room = sizeof config->unknown - 1 - used;
	if (used && room)
		config->unknown[used++] = ',', room--;
	if (len > room)
		len = room;
	memcpy(config->unknown + used, word, len);
	config->unknown[used + len] = 0;
}

void config_parse(struct config *config, const char *text)
{
	*config = (struct config){
		.socket = true,
		.signal = SIGUSR2,
		.mode = 0600,
		.ruby = true,
		.native = 64,
		.slots = 128 << 10,
		.epoch = 600,
	};
	while (text && *text) {
		char word[128];
		size_t len = strcspn(text, ",");
		if (len > 0 && len < sizeof word) {
			memcpy(word, text, len);
			word[len] = 0;
		}
		if (len > 0 && (len >= sizeof word || !apply_word(config, word)))
			note_unknown(config, text, len);
		text += len + (text[len] == ',');
	}
	if (!config->scope)
		config->scope = CONFIG_RUBY;
}

/* Writes the value with the largest unit that divides it. */
static void with_unit(struct textbuf *text, uint64_t value, const char *units, const uint64_t *factors)
{
	size_t k = 0;
	while (units[k + 1] && value % factors[k])
		k++;
	textbuf_printf(text, "%llu%c", (unsigned long long)(value / factors[k]), units[k]);
}

void config_triggers(const struct config *config, struct textbuf *text)
{
	const char *comma = "";
	if (config->every) {
		textbuf_str(text, "every=");
		with_unit(text, config->every, "hms", (const uint64_t[]){ 3600, 60, 1 });
		comma = ",";
	}
	if (config->cgroup_percent) {
		textbuf_printf(text, "%sat=cgroup:%u%%", comma, config->cgroup_percent);
		comma = ",";
	}
	if (config->rss) {
		textbuf_printf(text, "%sat=rss:", comma);
		with_unit(text, config->rss, "GMK", (const uint64_t[]){ 1 << 30, 1 << 20, 1 << 10 });
		comma = ",";
	}
	if (config->peak) {
		textbuf_printf(text, "%sat=peak", comma);
		comma = ",";
	}
	if (config->on_exit)
		textbuf_printf(text, "%son=exit", comma);
}

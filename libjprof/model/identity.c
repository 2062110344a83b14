#include "model/identity.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { texts = sizeof((struct jp_identity *)0)->text / sizeof(uint32_t) };

static int set_text(struct jprof_profile *profile, uint32_t *id, const char *text)
{
	if (!*text)
		return 0;
	*id = jp_intern_str(&profile->strings, text);
	return *id == JP_NONE ? -1 : 0;
}

static int fill_identity(struct jprof_profile *profile, struct jp_identity *identity, const struct jp_process *from)
{
	const char *const text[texts] = { from->boot_id, from->name, from->program, from->title,
		                          from->role,    from->ruby, from->invoked };
	identity->pid = from->pid ? from->pid : identity->pid;
	identity->rss = from->rss > 0 ? from->rss : identity->rss;
	identity->start_ticks = from->start_ticks ? from->start_ticks : identity->start_ticks;
	for (int i = 0; i < texts; i++)
		if (set_text(profile, &identity->text[i], text[i]))
			return -1;
	return 0;
}

int jp_identity_set(struct jprof_profile *profile, const struct jp_process *process)
{
	if (!profile->identity_count) {
		if (jp_array_push(profile->identities, profile->identity_count, profile->identity_cap))
			return -1;
		struct jp_identity *made = &profile->identities[profile->identity_count++];
		*made = (struct jp_identity){ 0 };
		for (int i = 0; i < texts; i++)
			made->text[i] = JP_NONE;
	}
	return fill_identity(profile, &profile->identities[0], process);
}

static struct jp_process process_from(const struct jprof_profile *profile, const struct jp_identity *identity)
{
	const char *text[texts];
	for (int i = 0; i < texts; i++)
		text[i] = identity->text[i] == JP_NONE ? "" : jp_string(profile, identity->text[i]);
	return (struct jp_process){
		identity->pid, identity->start_ticks, text[0], text[1], text[2], text[3], text[4], text[5],
		text[6],       identity->rss
	};
}

int jp_identity_merge(struct jprof_profile *to, const struct jprof_profile *from, double factor)
{
	size_t count = from->identity_count; /* they may be one and the same */
	bool unknown[2] = { from->strange[factor < 0], from->strange[factor >= 0] };
	to->strange[0] |= !to->identity_count && to->info.inputs;
	to->strange[0] |= unknown[0];
	to->strange[1] |= unknown[1];
	to->strange[factor < 0] |= !count;
	for (size_t i = 0; i < count; i++) {
		struct jp_process process = process_from(from, &from->identities[i]);
		struct jp_identity identity = { .base = from->identities[i].base != (factor < 0) };
		for (int t = 0; t < texts; t++)
			identity.text[t] = JP_NONE;
		if (fill_identity(to, &identity, &process) ||
		    jp_array_push(to->identities, to->identity_count, to->identity_cap))
			return -1;
		to->identities[to->identity_count++] = identity;
	}
	return 0;
}

struct jp_process *jp_identities(const struct jprof_profile *profile, bool base, size_t *count)
{
	struct jp_process *list = calloc(profile->identity_count + 1, sizeof *list);
	*count = 0;
	for (size_t i = 0; list && i < profile->identity_count && !profile->strange[base]; i++)
		if (profile->identities[i].base == base)
			list[(*count)++] = process_from(profile, &profile->identities[i]);
	return list;
}

const char *jp_identity_title(const struct jprof_profile *profile)
{
	const char *title = "";
	for (size_t i = 0; i < profile->identity_count && !profile->strange[0]; i++) {
		struct jp_process process = process_from(profile, &profile->identities[i]);
		if (!profile->identities[i].base && (!*title || !strcmp(process.role, "master")))
			title = process.title;
	}
	return title;
}

bool jp_has_ruby_inside(const struct jprof_profile *profile)
{
	for (size_t i = 0; i < jprof_profile_objects(profile); i++)
		if (jp_is_ruby_file(jprof_profile_object(profile, i)))
			return true;
	return jprof_profile_info(profile)->has_ruby;
}

const char *jprof_profile_started_as(const struct jprof_profile *profile)
{
	uint32_t name = JP_NONE;
	if (!profile || profile->strange[0] || profile->strange[1])
		return NULL;
	for (size_t i = 0; i < profile->identity_count; i++) {
		uint32_t own = profile->identities[i].text[texts - 1];
		if (own == JP_NONE || (name != JP_NONE && own != name))
			return NULL;
		name = own;
	}
	return name == JP_NONE ? NULL : jp_string(profile, name);
}

void jprof_profile_service(const struct jprof_profile *profile, struct jprof_service *service)
{
	if (!service)
		return;
	*service = (struct jprof_service){ .title = "", .program = "", .started = "" };
	if (!profile)
		return;
	const char *started = jprof_profile_started_as(profile);
	service->title = jp_identity_title(profile);
	service->started = started ? started : "";
	for (size_t i = 0; i < profile->identity_count && !profile->strange[0]; i++) {
		struct jp_process process = process_from(profile, &profile->identities[i]);
		if (profile->identities[i].base)
			continue;
		service->program = service->processes++ ? service->program : process.program;
		service->workers += !strcmp(process.role, "worker");
	}
}

#include "run/launcher.h"

#include <stddef.h>
#include <string.h>

#include "cli/names.h"

/* What words may stand before the command, by the programs' manuals. */
static const struct launcher_words {
	const char *name;
	const char *with;      /* short options with a value */
	const char *long_with; /* long ones with a value that may be the next word, parted by blanks */
	int before;            /* words between the options and the command */
	const char *user;      /* the option whose value is the user: "u", "reuid"; "1": the first of those words */
	bool drops;
} launchers[] = {
	{ "env", "uC", " unset chdir ", 0, NULL, false },
	{ "nice", "n", " adjustment ", 0, NULL, false },
	{ "ionice", "cn", " class classdata ", 0, NULL, false },
	{ "chrt", "TPD", " sched-runtime sched-period sched-deadline ", 1, NULL, false },
	{ "taskset", "", "", 1, NULL, false },
	{ "timeout", "ks", " kill-after signal ", 1, NULL, false },
	{ "nohup", "", "", 0, NULL, false },
	{ "setsid", "", "", 0, NULL, false },
	{ "stdbuf", "ioe", " input output error ", 0, NULL, false },
	{ "tini", "pe", "", 0, NULL, false },
	{ "dumb-init", "r", " rewrite ", 0, NULL, false },
	{ "catatonit", "", "", 0, NULL, false },
	{ "gosu", "", "", 1, "1", false },
	{ "su-exec", "", "", 1, "1", false },
	{ "setuidgid", "", "", 1, "1", false },
	{ "s6-setuidgid", "", "", 1, "1", false },
	{ "setpriv", "",
	  " reuid regid ruid euid rgid egid groups inh-caps ambient-caps bounding-set securebits pdeathsig selinux-label "
	  "apparmor-profile ",
	  0, "reuid", false },
	{ "chpst", "uUbenlLmdopfcrt/", "", 0, "u", false },
	{ "runuser", "ugG", " user group supp-group ", 0, "u", false },
	{ "sudo", "ugpCDhrtTUR", " user group prompt chdir host role type chroot ", 0, "u", true },
	{ "doas", "uC", "", 0, "u", true },
};

static const char *const others[] = { "sh",      "ash",       "bash",    "dash",      "ksh",    "zsh",
	                              "busybox", "chroot",    "unshare", "nsenter",   "strace", "su",
	                              "xargs",   "s6-svscan", "runsv",   "catchsegv", "perf" };

bool is_launcher(const char *name)
{
	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
		if (!strcmp(name, launchers[i].name))
			return true;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!strcmp(name, others[i]))
			return true;
	return false;
}

static bool is_in_list(const char *list, const char *name, size_t len)
{
	for (const char *at = strstr(list, " "); at && at[1]; at = strchr(at + 1, ' '))
		if (!strncmp(at + 1, name, len) && at[1 + len] == ' ')
			return true;
	return false;
}

/* One option at argv[*i], with its value, which may be the next word. */
static void read_option(const struct launcher_words *l, char *const *argv, int *i, struct launch *launch)
{
	const char *word = argv[*i], *value = NULL;
	bool is_long = word[1] == '-';
	size_t len = is_long ? strcspn(word + 2, "=") : 1;
	const char *name = is_long ? word + 2 : word + 1;
	if (is_long && name[len])
		value = name + len + 1;
	else if (!is_long && strchr(l->with, *name) && name[1])
		value = name + 1;
	else if (is_long ? is_in_list(l->long_with, name, len) : strchr(l->with, *name) != NULL)
		value = argv[*i + 1] ? argv[++*i] : NULL;
	bool user = l->user && (is_long ? strlen(l->user) == len && !strncmp(l->user, name, len) : *name == *l->user);
	if (value && (user || (l->user && is_long && len == 4 && !strncmp(name, "user", len))))
		launch->user = value;
	launch->drops |=
	    (!strcmp(l->name, "setpriv") && is_long && !strncmp(name, "reset-env", len)) ||
	    (!strcmp(l->name, "env") && (is_long ? !strncmp(name, "ignore-env", 10) : strchr(name, 'i') != NULL));
}

static bool sets_ours(const char *word)
{
	return !strncmp(word, "LD_PRELOAD=", 11) || !strncmp(word, "MALLOC_CONF=", 12);
}

bool launcher_read(char *const *argv, struct launch *launch)
{
	const struct launcher_words *l = NULL;
	for (size_t k = 0; !l && k < sizeof launchers / sizeof *launchers; k++)
		if (!strcmp(jp_basename(argv[0]), launchers[k].name))
			l = &launchers[k];
	*launch = (struct launch){ .drops = l && l->drops };
	if (!l)
		return false;
	bool env = !strcmp(l->name, "env");
	int i = 1;
	for (; argv[i]; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (*argv[i] == '-' && argv[i][1])
			read_option(l, argv, &i, launch);
		else if (!env || !strchr(argv[i], '='))
			break;
		else if (sets_ours(argv[i]))
			launch->sets = argv[i];
		if (!argv[i])
			break;
	}
	for (int before = 0; before < l->before && argv[i]; before++, i++)
		if (!before && l->user && !strcmp(l->user, "1"))
			launch->user = argv[i];
	launch->inner = argv[i] ? i : 0;
	return true;
}

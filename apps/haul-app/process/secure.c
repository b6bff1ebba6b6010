/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/secure.h"

#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(capability) (UINT64_C(1) << (capability))

/* Capabilities over files and other processes: haul needs none of them. */
#define GIVEN_UP                                                                               \
	(BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_FOWNER) | \
		BIT(CAP_FSETID) | BIT(CAP_KILL) | BIT(CAP_SETGID) | BIT(CAP_SETUID) |          \
		BIT(CAP_SETPCAP) | BIT(CAP_LINUX_IMMUTABLE) | BIT(CAP_SYS_MODULE) |            \
		BIT(CAP_SYS_CHROOT) | BIT(CAP_SYS_PTRACE) | BIT(CAP_MKNOD) | BIT(CAP_SETFCAP))

/* True for variables that cannot name files. All others are removed from the environment. */
static bool is_kept(const char *variable)
{
	static const char *const kept[] = {"TERM=", "COLORTERM=", "NO_COLOR=", "LANG=", "LC_",
		"HAUL_RESTARTED=" /* of the glue: the program was executed again */};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (strncmp(variable, kept[i], strlen(kept[i])) == 0)
			return true;
	return false;
}

static void forget_environment(void)
{
	size_t n = 0;

	for (size_t i = 0; environ && environ[i]; i++)
		if (is_kept(environ[i]))
			environ[n++] = environ[i];
	if (environ)
		environ[n] = NULL;
}

/* Gives up the capabilities of this thread, the only one. */
static bool give_up(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, words) != 0)
		return false;
	for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		const uint32_t kept = (uint32_t) ~(GIVEN_UP >> 32 * i);

		words[i].effective &= kept;
		words[i].permitted &= kept;
		words[i].inheritable &= kept;
	}
	return syscall(SYS_capset, &head, words) == 0;
}

int hauli_app_secure_begin(const struct haul_app_program *program)
{
	if (!getauxval(AT_SECURE) || getuid() == 0)
		return HAUL_APP_DONE;
	if (geteuid() != getuid() || getegid() != getgid()) {
		haul_app_say(program,
			"not for setuid or setgid; give the program capabilities, such as setcap "
			"cap_net_raw,cap_net_admin+ep");
		return HAUL_APP_FAILED;
	}
	forget_environment();
	if (give_up())
		return HAUL_APP_DONE;
	haul_app_say(program, "cannot give up capabilities over files");
	return HAUL_APP_FAILED;
}

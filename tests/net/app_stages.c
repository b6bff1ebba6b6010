/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with all hooks of haul-app: prints the name of each as it is called, and fails in the
 * one that --fail names. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <haul-app/app.h>
#include <haul-app/telemetry.h>

static const char *failing = "", *told;
static uint64_t on_carriers;
static bool hog, reads, commands;
static uint64_t code = HAUL_APP_FAILED;
static atomic_bool reports; /* the hook is at work */
static uint64_t number = 7; /* without a limit */

static const struct haul_app_option options[] = {
	{"--fail", "HOOK", HAUL_APP_TEXT, &failing, .help = "fail there"},
	{"--code", "N", HAUL_APP_NUMBER, &code, .max = 1000,
		.help = "what the failing hook returns"},
	{"--number", "N", HAUL_APP_NUMBER, &number, .help = "a number"},
	{"--hog", NULL, HAUL_APP_FLAG, &hog, .help = "never return from the handler of carrier 1"},
	{"--tell", "FILE", HAUL_APP_TEXT, &told,
		.help = "print what is appended to FILE, with each report"},
	{"--commands", NULL, HAUL_APP_FLAG, &commands, .help = "add commands of telemetry"},
	{"--read", NULL, HAUL_APP_FLAG, &reads, .help = "read stdin and timers"},
	{0},
};

enum { BURSTS, PACKETS, READ, GAUGE };

static uint64_t read_carrier(const struct haul_app *app, unsigned carrier)
{
	return 1000 + carrier;
}

static const struct haul_app_counter counters[] = {
	{.name = "bursts"},
	{.name = "packets"},
	{.name = "read", .read = read_carrier},
	{.name = "gauge", .read = read_carrier, .gauge = true},
	{0},
};

static int call(struct haul_app *app, const char *hook)
{
	fprintf(stderr, "hook %s\n", hook);
	if (strcmp(hook, failing) != 0)
		return HAUL_APP_DONE;
	haul_app_say(app->program, "%s fails", hook);
	return (int)code;
}

/* There is no such port: ends the program by a line and abort(). */
static void misuse(const struct haul_app *app)
{
	struct haul_io_stats st;

	haul_io_get_stats(app->io, 99, HAUL_ALL, &st);
}

static void handle(struct haul_rx *rx, struct rte_mbuf **pkts, uint16_t n)
{
	const struct haul_app *app = rx->arg;

	/* While the main thread shows the screen: stderr is kept first of all. */
	if (strcmp(failing, "misuse on a carrier") == 0 && !isatty(STDERR_FILENO))
		misuse(app);
	for (uint64_t i = 0; hog && rx->carrier == 1; i++)
		__asm__ volatile("" ::"r"(i));
	haul_app_count(BURSTS, 1);
	haul_app_count(PACKETS, n);
	haul_drop(rx, pkts, n,
		haul_io_txq(app->io, rx->port, rx->carrier) == rx->reply ? HAUL_DROP_OWN + 2
									 : HAUL_DROP_MALFORMED);
}

static int nothing(struct haul_app *app, unsigned carrier, void *arg)
{
	return HAUL_APP_DONE;
}

static int parsed(struct haul_app *app, struct haul_io_opts *io)
{
	io->on_burst = handle;
	if (strcmp(failing, "plain") == 0)
		haul_app_plain_reports(app);
	if (strcmp(failing, "call in parsed") == 0)
		return haul_app_on_carriers(app, nothing, NULL);
	return call(app, app->nb_ports == 1 && !app->rt && !app->io ? "parsed" : "parsed late");
}

static int opened(struct haul_app *app)
{
	return call(app, app->ports[0] && app->rt && app->plan && app->pool ? "opened" : "early");
}

static int carrier_begins(struct haul_app *app, unsigned carrier)
{
	char name[32];

	if (haul_carrier_id(haul_carrier_self()) != carrier)
		return call(app, "carrier_begins on another");
	snprintf(name, sizeof(name), "carrier_begins %u", carrier);
	return call(app, name);
}

static int sleep_long(struct haul_app *app, unsigned carrier, void *arg)
{
	fprintf(stderr, "hook sleeps\n");
	return haul_sleep(3600 * HAUL_S) == 0 ? HAUL_APP_DONE : 9;
}

/* A timer that fires all the time, until the other file is read. */
static void fires(struct haul_app *app, int fd, void *arg)
{
	static unsigned n;

	if (n++ == 0)
		fprintf(stderr, "hook fires\n");
}

/* Reads a letter at a time: e ends the program, c closes a file too early, x takes the timer. */
static void read_letter(struct haul_app *app, int fd, void *arg)
{
	const int *timer = arg;
	char letter;
	ssize_t n = read(fd, &letter, 1);
	int first;

	if (n == 1)
		fprintf(stderr, "hook read %c\n", letter);
	if (n == 0) {
		first = haul_app_watch(app, fd, NULL, NULL);
		fprintf(stderr, "hook end of file %d %d\n", first,
			haul_app_watch(app, fd, NULL, NULL) == -ENOENT);
	}
	if (n == 1 && letter == 'e')
		haul_app_end(app);
	if (n == 1 && letter == 'c')
		close(*timer);
	if (n == 1 && letter == 'x')
		haul_app_watch(app, *timer, NULL, NULL);
}

static int watch(struct haul_app *app)
{
	const struct itimerspec often = {{0, 100000}, {0, 100000}};
	static int timer;

	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(timer, 0, &often, NULL);
	if (haul_app_watch(app, -1, fires, NULL) != -EBADF ||
		haul_app_watch(app, timer, fires, NULL) != 0 ||
		haul_app_watch(app, STDIN_FILENO, fires, NULL) != 0 ||
		haul_app_watch(app, STDIN_FILENO, read_letter, &timer) != 0)
		return HAUL_APP_FAILED;
	return HAUL_APP_DONE;
}

/* All kinds of values. With the parameter "long": more than an answer can have. */
static void answer(struct haul_app_json *values, const char *params, void *arg)
{
	const struct haul_app *app = arg;
	struct haul_app_json *list = haul_app_json_array(values, "a list");
	char key[16], text[100];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (unsigned i = 0; strcmp(params, "long") == 0 && i < 300; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		haul_app_json_text(values, key, text);
	}
	haul_app_json_number(list, NULL, -1);
	haul_app_json_real(list, NULL, 0.5);
	haul_app_json_bool(list, NULL, true);
	haul_app_json_text(list, NULL, "\"a\\\n\xc3\xbc");
	haul_app_json_text(haul_app_json_object(list, NULL), "nothing", NULL);
	haul_app_json_number(values, "max", INT64_MAX);
	haul_app_json_text(values, "params", params);
	haul_app_json_bool(values, "beside a report", reports);
	haul_app_json_number(values, "counted", (int64_t)haul_app_counted(app, PACKETS, HAUL_ALL));
}

/* As many as there can be. */
static int fill(struct haul_app *app)
{
	static char names[100][16];
	int err = 0;

	for (unsigned i = 0; i < 100 && err == 0; i++) {
		snprintf(names[i], sizeof(names[i]), "/stages/n%u", i);
		err = haul_app_telemetry(names[i], "Takes no parameters", answer, app);
	}
	return err;
}

/* The number of those that returned what they should. */
static unsigned add_commands(struct haul_app *app)
{
	static const struct {
		const char *name;
		int err;
	} commands_of[] = {
		{"/stages/values", 0},
		{"/stages/values", -EEXIST},
		{"/haul/info", -EEXIST},
		{"stages", -EINVAL},
		{"/stages values", -EINVAL},
		{"/", -EINVAL},
	};
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof(commands_of) / sizeof(commands_of[0]); i++)
		n += haul_app_telemetry(commands_of[i].name, "Values. Takes no parameters", answer,
			     app) == commands_of[i].err;
	return n + (fill(app) == -ENOSPC);
}

static int started(struct haul_app *app)
{
	if (reads && watch(app) != HAUL_APP_DONE)
		return HAUL_APP_FAILED;
	if (commands)
		fprintf(stderr, "hook commands %u\n", add_commands(app));
	if (strcmp(failing, "sleep") == 0)
		return haul_app_on_carriers(app, sleep_long, NULL);
	return call(app, "started");
}

static int add(struct haul_app *app, unsigned carrier, void *arg)
{
	haul_yield();
	*(uint64_t *)arg += haul_carrier_id(haul_carrier_self()) == carrier ? carrier + 1 : 100;
	return HAUL_APP_DONE;
}

static void tell(void)
{
	static FILE *file;
	char line[256];

	if (!file)
		file = fopen(told, "r");
	clearerr(file);
	while (fgets(line, sizeof(line), file))
		fputs(line, stderr);
}

static void report(struct haul_app *app, FILE *out, bool final)
{
	if (told) {
		tell();
		return;
	}
	if (strcmp(failing, "misuse") == 0)
		misuse(app);
	reports = true;
	for (uint64_t until = haul_in(commands ? HAUL_MS : 0); haul_now() < until;)
		;
	reports = false;
	on_carriers = 0;
	haul_app_on_carriers(app, add, &on_carriers);
	fprintf(stderr, "hook report%s %d\n", final ? " final" : "", (int)on_carriers);
}

static void json(struct haul_app *app, struct haul_app_json *object)
{
	struct haul_app_json *list = haul_app_json_array(object, "list");

	fprintf(stderr, "hook json\n");
	haul_app_json_number(list, NULL, -1);
	haul_app_json_real(list, NULL, 0.0 / 0.0);
	haul_app_json_bool(list, NULL, true);
	haul_app_json_text(list, NULL, "a\xff\"b");
	haul_app_json_text(haul_app_json_object(list, NULL), "nothing", NULL);
	haul_app_json_number(object, "counted", (int64_t)haul_app_counted(app, PACKETS, HAUL_ALL));
}

static void carrier_ends(struct haul_app *app, unsigned carrier)
{
	fprintf(stderr, "hook carrier_ends %u\n", carrier);
}

static void closed(struct haul_app *app)
{
	bool gone = !app->plan && !app->pool && !app->ports && !app->rt && !app->io;

	fprintf(stderr, "hook closed%s\n",
		gone && haul_app_counted(app, PACKETS, HAUL_ALL) == 0 ? "" : " with pointers");
}

int main(int argc, char **argv)
{
	static const struct haul_app_program program = {
		.name = "stages", .version = "7", .purpose = "Calls hooks.", .options = {options}};
	static const struct haul_app_hooks hooks = {
		.drop_names = {NULL, NULL, "third"},
		.counters = counters,
		.parsed = parsed,
		.opened = opened,
		.carrier_begins = carrier_begins,
		.started = started,
		.report = report,
		.json = json,
		.carrier_ends = carrier_ends,
		.closed = closed,
	};

	return haul_app_main(&program, &hooks, argc, argv);
}

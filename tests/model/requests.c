/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to one object by two threads, sent to its owner through the inbox: each is granted, and
 * the one message is never in the inbox twice.
 */
#include "conc/requests.h"

#include "conc/inbox.h"
#include "explorer.h"

#define ALL 3 /* bits */

static struct {
	struct hauli_inbox in;
	struct hauli_requests requests;
	struct hauli_node message;
	uint64_t reason[2]; /* the requester's data, read by the owner */
	uint64_t granted;
	uint64_t messages;
} m;

static void init(void)
{
	hauli_inbox_init(&m.in);
	hauli_requests_init(&m.requests);
}

static void request(unsigned bit)
{
	m.reason[bit] = 1;
	if (hauli_requests_add(&m.requests, 1u << bit) && hauli_inbox_push(&m.in, &m.message)) {
		hauli_inbox_wake(&m.in);
		hauli_inbox_called(&m.in);
	}
}

static void requester_0(void)
{
	request(0);
}

static void requester_1(void)
{
	request(1);
}

static void owner(void)
{
	while (m.granted != ALL) {
		struct hauli_node *node;

		if (hauli_inbox_try_sleep(&m.in, HAULI_INBOX_ASLEEP))
			while (hauli_inbox_is_asleep(&m.in))
				hauli_inbox_wait(&m.in, NULL);
		node = hauli_inbox_drain(&m.in);
		while (node) {
			uint32_t bits;

			MODEL_ASSERT(node == &m.message);
			node = node->next;
			bits = hauli_requests_take(&m.requests);
			for (unsigned bit = 0; bit < 2; bit++)
				MODEL_ASSERT(!(bits & (1u << bit)) || m.reason[bit] == 1);
			MODEL_ASSERT(!(m.granted & bits));
			m.granted |= bits;
			m.messages++;
		}
	}
}

static void check(void)
{
	MODEL_ASSERT(!hauli_requests_pending(&m.requests));
	MODEL_ASSERT(m.messages >= 1 && m.messages <= 2);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "requests",
			.nb_threads = 3,
			.threads = {owner, requester_0, requester_1},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}

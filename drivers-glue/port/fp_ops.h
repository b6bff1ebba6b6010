/* SPDX-License-Identifier: BSD-3-Clause */
/* Where ethdev has a device's burst functions. Simulated devices are not in its table. */
#ifndef HAULI_PORT_FP_OPS_H
#define HAULI_PORT_FP_OPS_H

#include <rte_ethdev.h>

#include "base/simulated.h"

static inline const struct rte_eth_fp_ops *hauli_fp_ops(uint16_t port_id)
{
#if HAULI_SIM
	return &hauli_simnet_fp_ops[port_id];
#else
	return &rte_eth_fp_ops[port_id];
#endif
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The poller policies: costs on this machine, and availability for each kind of port. */
#ifndef DOCTOR_POLLERS_H
#define DOCTOR_POLLERS_H

#include "report.h"

/* Measures the costs, and reports both. */
void doctor_pollers(struct doctor_report *r, const struct haul_plan *plan);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which pollers each kind of port can have, and what they cost here. */
#ifndef DOCTOR_POLLERS_H
#define DOCTOR_POLLERS_H

#include "report.h"

/* Measures, and tells both. */
void doctor_pollers(struct doctor_report *r, const struct haul_plan *plan);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "load.h"

const char *const shape_names[] = {"even", "an elephant", "Zipf", "Zipf, moving"};

void flow_weights(enum shape shape, unsigned nb_carriers, double weights[FLOWS])
{
	double elephant = 0.4 * 4 / nb_carriers, sum = 0;

	for (unsigned f = 0; f < FLOWS; f++) {
		if (shape == EVEN)
			weights[f] = 1.0 / FLOWS;
		else if (shape == ELEPHANT)
			weights[f] = f == 0 ? elephant : (1 - elephant) / (FLOWS - 1);
		else
			weights[f] = 1.0 / (f + 1);
		sum += weights[f];
	}
	for (unsigned f = 0; f < FLOWS; f++)
		weights[f] /= sum;
}

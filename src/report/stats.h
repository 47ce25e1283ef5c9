/* SPDX-License-Identifier: Apache-2.0 */
/* Mean and spread of repeated measurements, and how sure a difference is. */
#ifndef REPORT_STATS_H
#define REPORT_STATS_H

#include <stddef.h>

/* Welford's running mean and sum of squares: zeroed is empty. */
struct stats {
	size_t n;
	double mean, m2, min, max;
};

void stats_add(struct stats *s, double value);
/* Standard deviation of the values (n - 1 below); 0 for fewer than two. */
double stats_stddev(const struct stats *s);
/* Standard error of the mean: what perf stat prints as "+-". */
double stats_error(const struct stats *s);

/* The x below which Student's t with df degrees of freedom (any positive number) stays
 * with probability p, 0 < p < 1. */
double stats_t_quantile(double p, double df);

/* b.mean - a.mean, and half the width of its confidence interval (Welch: the spreads may
 * differ). half is infinite when either has fewer than two values. */
struct stats_difference {
	double mean, half;
};
struct stats_difference stats_compare(const struct stats *a, const struct stats *b,
				      double confidence);
#endif

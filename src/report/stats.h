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

/* A share of something, as samples told it: `part` of `n` samples (any positive numbers: samples
 * of different weights count as fewer). */
struct stats_share {
	double part, n;
};

/* The difference b - a of two shares, -1 to 1, and the interval it lies in with that confidence,
 * by the method of Agresti and Caffo (The American Statistician 54, 2000): a success and a failure
 * more in each keep it honest where shares are near 0 or samples few. */
struct stats_interval {
	double difference, low, high;
};
struct stats_interval stats_compare_shares(const struct stats_share *a, const struct stats_share *b,
					   double confidence);
/* How far the interval stays away from 0; 0: it doesn't, there may be no difference. */
double stats_evidence(const struct stats_interval *i);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Mean and spread of repeated measurements, and significance of differences. */
#ifndef REPORT_STATS_H
#define REPORT_STATS_H

#include <stddef.h>

/* Welford's running mean and sum of squares: zeroed is empty. */
struct stats {
	size_t n;
	double mean, m2, min, max;
};

void stats_add(struct stats *s, double value);
/* Standard deviation of the values (divisor n - 1); 0 for fewer than two. */
double stats_stddev(const struct stats *s);
/* Standard error of the mean: perf stat's "+-". */
double stats_error(const struct stats *s);

/* Quantile p (0 < p < 1) of Student's t distribution with df degrees of freedom (any positive number). */
double stats_t_quantile(double p, double df);

/* b.mean - a.mean, and half the width of its confidence interval (Welch: for different
 * variances). half is infinite if one of them has fewer than two values. */
struct stats_difference {
	double mean, half;
};
struct stats_difference stats_compare(const struct stats *a, const struct stats *b,
				      double confidence);

/* b.mean / a.mean, and its confidence interval by Fieller's method, with the standard errors and degrees of freedom of
 * stats_compare(): it includes 1 exactly if that interval includes 0. Dividing that interval by a.mean would take a.mean
 * for exact. high is infinite and low 0 if too few values, or a mean near 0, leave the ratio open. Means are >= 0. */
struct stats_ratio {
	double ratio, low, high;
};
struct stats_ratio stats_compare_ratio(const struct stats *a, const struct stats *b, double confidence);

/* A share found by sampling: `part` of `n` samples (any positive numbers: samples of different
 * weights count as fewer). */
struct stats_share {
	double part, n;
};

/* A difference b - a, and its confidence interval. */
struct stats_interval {
	double difference, low, high;
};
/* The difference of two shares, -1 to 1, by the method of Agresti and Caffo (The American Statistician 54, 2000): a success and a failure
 * added to each keep it valid for shares near 0 and for few samples. */
struct stats_interval stats_compare_shares(const struct stats_share *a, const struct stats_share *b,
					   double confidence);
/* A sum, to which n of `of` samples add `each`. Only n is random: the number of all samples is exact, as that of a clock.
 * apart: the standard deviation of the sum itself from run to run, as a part of it. */
struct stats_sum {
	double n, of, each, apart;
};
struct stats_interval stats_compare_sums(const struct stats_sum *a, const struct stats_sum *b, double confidence);
/* n runs, in which a value differs by this variance. */
struct stats_spread {
	size_t n;
	double variance;             /* of one run; unused if n is 1 */
};
/* Widens the interval of b - a, where it is narrower, to that of a difference of the means of n runs each (Welch). One run is
 * taken to differ as those of the other side do. At least one of them has several. */
void stats_widen(struct stats_interval *i, const struct stats_spread *a, const struct stats_spread *b, double confidence);
/* Distance of the interval from 0; 0: the interval includes it, so the difference is not significant. */
double stats_evidence(const struct stats_interval *i);
#endif

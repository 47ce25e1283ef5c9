/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stats.h"

#include <math.h>
#include <stdbool.h>

void stats_add(struct stats *s, double value)
{
	double delta = value - s->mean;

	if (!s->n || value < s->min)
		s->min = value;
	if (!s->n || value > s->max)
		s->max = value;
	s->n++;
	s->mean += delta / (double)s->n;
	s->m2 += delta * (value - s->mean);
}

static double variance(const struct stats *s)
{
	return s->n > 1 ? s->m2 / (double)(s->n - 1) : 0;
}

double stats_stddev(const struct stats *s)
{
	return sqrt(variance(s));
}

double stats_error(const struct stats *s)
{
	return s->n ? sqrt(variance(s) / (double)s->n) : 0;
}

/* ---- Student's t --------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function, by Lentz's method (Numerical Recipes,
 * 6.4): converges in O(sqrt(max(a, b))) steps for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		if (fabs(d * c - 1) < 1e-14)
			break;
	}
	return h;
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* Probability that t < x, for x >= 0. */
static double t_below(double x, double df)
{
	return 1 - incomplete_beta(df / 2, 0.5, df / (df + x * x)) / 2;
}

double stats_t_quantile(double p, double df)
{
	double low = 0, high = 1;

	if (p < 0.5)
		return -stats_t_quantile(1 - p, df);
	while (t_below(high, df) < p && high < 1e12)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double mid = (low + high) / 2;

		if (t_below(mid, df) < p)
			low = mid;
		else
			high = mid;
	}
	return (low + high) / 2;
}

/* Degrees of freedom of a difference (Welch and Satterthwaite): squares of both standard errors, and those of each. */
static double welch_df(double va, double vb, double a, double b)
{
	return (va + vb) * (va + vb) / (va * va / a + vb * vb / b);
}

/* Squares of the standard errors of both means, and Student's t for their difference; false: too few values. */
static bool welch(const struct stats *a, const struct stats *b, double confidence, double *va, double *vb, double *t)
{
	if (a->n < 2 || b->n < 2)
		return false;
	*va = variance(a) / (double)a->n;
	*vb = variance(b) / (double)b->n;
	*t = 0;
	if (*va + *vb <= 0)   /* all values equal, such as counts of system calls */
		return true;
	*t = stats_t_quantile(0.5 + confidence / 2, welch_df(*va, *vb, (double)(a->n - 1), (double)(b->n - 1)));
	return true;
}

struct stats_difference stats_compare(const struct stats *a, const struct stats *b,
				      double confidence)
{
	struct stats_difference d = { b->mean - a->mean, INFINITY };
	double va, vb, t;

	if (welch(a, b, confidence, &va, &vb, &t))
		d.half = t * sqrt(va + vb);
	return d;
}

/* The ratios r for which b.mean - r * a.mean is no more than t standard errors away from 0: a quadratic inequality. */
struct stats_ratio stats_compare_ratio(const struct stats *a, const struct stats *b, double confidence)
{
	struct stats_ratio r = { a->mean > 0 ? b->mean / a->mean : 0, 0, INFINITY };
	double va, vb, t, square, root;

	if (!welch(a, b, confidence, &va, &vb, &t))
		return r;
	square = a->mean * a->mean - t * t * va;
	if (square <= 0)
		return r;
	root = t * sqrt(vb * square + b->mean * b->mean * va);
	r.low = fmax(0, (a->mean * b->mean - root) / square);
	r.high = (a->mean * b->mean + root) / square;
	return r;
}

/* ---- shares ---------------------------------------------------------------------- */

static double share_variance(const struct stats_share *s, double *mean)
{
	*mean = (s->part + 1) / (s->n + 2);
	return *mean * (1 - *mean) / (s->n + 2);
}

static double share(const struct stats_share *s)
{
	return s->n > 0 ? s->part / s->n : 0;
}

/* The quantile of the normal distribution, to four digits. */
static double deviations(double confidence)
{
	return stats_t_quantile(0.5 + confidence / 2, 1e5);
}

static double sum_variance(const struct stats_sum *s)
{
	double apart = s->apart * s->n * s->each, others = 1 - (s->n + 1) / (s->of + 2);

	return (s->n + 1) * others * s->each * s->each + apart * apart;
}

struct stats_interval stats_compare_sums(const struct stats_sum *a, const struct stats_sum *b, double confidence)
{
	double more = b->n * b->each - a->n * a->each;
	double half = deviations(confidence) * sqrt(sum_variance(a) + sum_variance(b));

	return (struct stats_interval){ more, more - half, more + half };
}

struct stats_interval stats_compare_shares(const struct stats_share *a, const struct stats_share *b,
					   double confidence)
{
	double before, after, spread = share_variance(a, &before) + share_variance(b, &after);
	double half = deviations(confidence) * sqrt(spread);

	return (struct stats_interval){ share(b) - share(a), fmax(after - before - half, -1),
					fmin(after - before + half, 1) };
}

void stats_widen(struct stats_interval *i, const struct stats_spread *a, const struct stats_spread *b, double confidence)
{
	const double va = (a->n > 1 ? a : b)->variance, vb = (b->n > 1 ? b : a)->variance;
	const double ea = va / (double)a->n, eb = vb / (double)b->n, da = (double)a->n - 1, db = (double)b->n - 1;
	double df, half;

	if (ea + eb <= 0)
		return;
	df = a->n > 1 && b->n > 1 ? welch_df(ea, eb, da, db) : da + db;
	half = stats_t_quantile(0.5 + confidence / 2, df) * sqrt(ea + eb);
	i->low = fmin(i->low, i->difference - half);
	i->high = fmax(i->high, i->difference + half);
}

double stats_evidence(const struct stats_interval *i)
{
	return i->low > 0 ? i->low : i->high < 0 ? -i->high : 0;
}

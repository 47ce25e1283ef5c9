/* SPDX-License-Identifier: Apache-2.0 */
/* A conversion of a format: printf's, and the kernel's extensions of %p. */
#include "tracefmt/printcode.h"

#include <ctype.h>
#include <string.h>

static const char *read_flags(struct spec *spec, const char *at, const char *end)
{
	static const char letters[] = "-0#+ ";
	bool *const flags[] = { &spec->left, &spec->zero, &spec->alternate, &spec->plus, &spec->space };
	const char *letter;

	for (; at < end && *at && (letter = strchr(letters, *at)); at++)
		*flags[letter - letters] = true;
	return at;
}

static const char *read_count(const char *at, const char *end, uint16_t *n, bool *star)
{
	if (at < end && *at == '*') {
		*star = true;
		return at + 1;
	}
	for (; at < end && isdigit((unsigned char)*at); at++)
		if (*n <= PRINT_MAX_WIDTH)
			*n = (uint16_t)(*n * 10 + (*at - '0'));
	return at;
}

static const char *read_size(struct spec *spec, const char *at, const char *end)
{
	int longer = 0;

	for (; at < end && strchr("hlLzZtjq", *at) && *at; at++)
		longer += *at == 'h' ? -1 : 1;
	spec->size = longer > 0 ? 8 : longer == 0 ? 4 : longer == -1 ? 2 : 1;
	return at;
}

/* Letters that may follow the first two letters after %p. */
static const char *third_letters(const char *variant)
{
	if (*variant != 'I' && *variant != 'i')
		return "";
	return variant[1] == '4' ? "hnlb" : variant[1] == '6' ? "c" : "pfsc";
}

/* Takes the letters after %p that belong to the conversion. */
static const char *read_variant(struct spec *spec, const char *at, const char *end)
{
	static const struct {
		char first;
		const char *second;
	} variants[] = {
		{ 'F', "" }, { 'f', "" }, { 'S', "" }, { 's', "" }, { 'B', "" }, { 'K', "" },
		{ 'x', "" }, { 'M', "RF" }, { 'm', "R" }, { 'I', "46S" }, { 'i', "46S" },
		{ 'U', "bBlL" }, { 'h', "CDN" }, { 'b', "l" },
	};
	size_t n = 0, most;

	for (size_t i = 0; at < end && i < sizeof(variants) / sizeof(*variants); i++) {
		if (*at != variants[i].first)
			continue;
		spec->variant[n++] = *at++;
		if (at == end || !*at || !strchr(variants[i].second, *at))
			break;
		spec->variant[n++] = *at++;
		most = spec->variant[1] == 'S' ? 4 : 3;
		while (n < most && at < end && *at && strchr(third_letters(spec->variant), *at))
			spec->variant[n++] = *at++;
		break;
	}
	return at;
}

const char *spec_read(struct spec *spec, const char *at, const char *end)
{
	*spec = (struct spec){ 0 };
	at = read_flags(spec, at, end);
	at = read_count(at, end, &spec->width, &spec->width_arg);
	if (at < end && *at == '.') {
		spec->has_precision = true;
		at = read_count(at + 1, end, &spec->precision, &spec->precision_arg);
	}
	at = read_size(spec, at, end);
	if (at == end)
		return NULL;
	spec->letter = *at == 'i' ? 'd' : *at;
	if (spec->width > PRINT_MAX_WIDTH || spec->precision > PRINT_MAX_WIDTH)
		return NULL;
	return spec->letter == 'p' ? read_variant(spec, at + 1, end) : at + 1;
}

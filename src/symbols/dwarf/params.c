/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/params.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The answer comes from a process that a hostile file may have taken over, and its names and numbers go to the kernel. */
static bool is_word(const char name[PARAM_NAME])
{
	if (!memchr(name, '\0', PARAM_NAME) || !(isalpha((unsigned char)name[0]) || name[0] == '_'))
		return false;
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			return false;
	return true;
}

static bool is_param(const struct param *p)
{
	return is_word(p->name) && p->type < PARAM_TYPES && p->nsteps <= PARAM_STEPS;
}

static int unpack(struct params *out)
{
	out->all = out->bytes.data;
	out->n = out->bytes.size / sizeof(*out->all);
	if (out->bytes.size % sizeof(*out->all))
		return -EBADMSG;
	for (size_t i = 0; i < out->n; i++)
		if (!is_param(&out->all[i]))
			return -EBADMSG;
	return 0;
}

static bool is_copy(const char *symbol)
{
	return strstr(symbol, ".constprop.") || strstr(symbol, ".isra.") || strstr(symbol, ".part.");
}

int params_find(struct params *out, struct parser *p, int fd, uint64_t address, const char *symbol, enum params_what what,
		const char *name)
{
	struct params_question question = { .address = address, .what = what, .is_copy = is_copy(symbol) };
	struct parser_question q = { .kind = PARSER_PARAMS, .fds = { fd }, .nfds = 1 };
	struct parser_bytes bytes = { 0 };
	int rc = parser_put(&bytes, &question, sizeof(question));

	*out = (struct params){ 0 };
	if (!rc)
		rc = parser_put(&bytes, name, strlen(name) + 1);
	q.bytes = bytes.data;
	q.size = bytes.size;
	if (!rc)
		rc = parser_ask(p, &q, &out->bytes);
	parser_bytes_free(&bytes);
	if (!rc)
		rc = unpack(out);
	if (rc)
		params_free(out);
	return rc;
}

void params_free(struct params *params)
{
	parser_bytes_free(&params->bytes);
	*params = (struct params){ 0 };
}

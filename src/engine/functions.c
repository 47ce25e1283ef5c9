/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/functions.h"

#include "engine/callnames.h"
#include "engine/exitnames.h"
#include "stream/asked/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- text results --------------------------------------------------------------------- */

static void set_text(struct expr_value *result, const char *text, size_t len)
{
	result->text = text;
	result->len = (uint32_t)len;
}

/* Appends to the run's text. False: there is no room. */
static bool append(struct expr_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool append(struct expr_run *run, const char *fmt, ...)
{
	size_t room = run->text_size - run->text_used;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(run->text + run->text_used, room, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= room)
		return false;
	run->text_used += (size_t)n;
	return true;
}

/* ---- printf ----------------------------------------------------------------------------- */

/* A piece of a format: literal bytes, then a conversion. */
struct piece {
	uint32_t literal;        /* number of literal bytes */
	bool percent;            /* "%%" */
	char conversion;         /* 0: none, the format ends */
	char spec[16];           /* "%-08", without length modifier and conversion */
	uint32_t size;           /* bytes of the whole piece */
};

enum { MAX_SPEC = 8 };           /* flags, width and precision */

/* False: invalid, or not supported. */
static bool take_piece(const char *text, uint32_t len, struct piece *p)
{
	uint32_t i, spec;

	*p = (struct piece){ 0 };
	while (p->literal < len && text[p->literal] != '%')
		p->literal++;
	p->size = i = p->literal;
	if (i == len)
		return true;
	i++;
	for (spec = i; i < len && strchr("-+ #0123456789.", text[i]); i++)
		;
	if (i - spec > MAX_SPEC)
		return false;
	snprintf(p->spec, sizeof(p->spec), "%%%.*s", (int)(i - spec), text + spec);
	while (i < len && strchr("lhzjt", text[i]))
		i++;   /* all integers have 64 bits */
	if (i == len || !text[i] || !strchr("diuxXocs%p", text[i]))
		return false;
	p->conversion = text[i];
	p->percent = text[i] == '%';
	p->size = i + 1;
	return true;
}

static const char *check_printf(const struct expr_value *args, const bool *is_const, size_t nargs,
				size_t *bad)
{
	const char *text = args[0].text;
	uint32_t left = args[0].len;
	size_t arg = 1;
	struct piece p;

	for (; left; text += p.size, left -= p.size) {
		*bad = 0;
		if (!take_piece(text, left, &p))
			return "conversions of %d %i %u %x %X %o %c %p %s %%, with flags, width and precision";
		if (!p.conversion || p.percent)
			continue;
		*bad = arg;
		if (arg == nargs)
			return "an argument for each conversion of the format";
		if ((args[arg].type == EXPR_TEXT) != (p.conversion == 's'))
			return p.conversion == 's' ? "text for %s, or another conversion"
						   : "a number for this conversion, or %s";
		arg++;
	}
	*bad = arg;
	return arg < nargs ? "no more arguments than the format has conversions" : NULL;
}

static bool put_argument(struct expr_run *run, const struct piece *p, const struct expr_value *arg)
{
	char spec[32];

	if (p->conversion == 's') {
		/* text is not terminated: its length is the precision, at most the one in the format */
		uint32_t len = arg->len;
		const char *dot = strchr(p->spec, '.');
		unsigned int most;

		if (dot) {
			most = 0;
			sscanf(dot + 1, "%u", &most);
			len = most < len ? most : len;
		}
		snprintf(spec, sizeof(spec), "%.*s.*s", dot ? (int)(dot - p->spec) : (int)sizeof(p->spec),
			 p->spec);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
		return append(run, spec, (int)len, arg->text);
	}
	if (p->conversion == 'c') {
		snprintf(spec, sizeof(spec), "%sc", p->spec);
		return append(run, spec, (int)(unsigned char)arg->u);
	}
	if (p->conversion == 'p')
		return append(run, "0x%llx", (unsigned long long)arg->u);
	snprintf(spec, sizeof(spec), "%sll%c", p->spec, p->conversion);
	return append(run, spec, (unsigned long long)arg->u);
#pragma GCC diagnostic pop
}

static int call_printf(struct expr_run *run, const struct expr_value *args, size_t nargs,
		       struct expr_value *result)
{
	const char *text = args[0].text;
	uint32_t left = args[0].len;
	size_t from = run->text_used, arg = 1;
	struct piece p;

	for (; left; text += p.size, left -= p.size) {
		bool fits = take_piece(text, left, &p) &&
			    (!p.literal || append(run, "%.*s", (int)p.literal, text));

		if (fits && p.percent)
			fits = append(run, "%%");
		else if (fits && p.conversion)
			fits = arg < nargs && put_argument(run, &p, &args[arg++]);
		if (!fits)
			return EXPR_ROOM;
	}
	set_text(result, run->text + from, run->text_used - from);
	return EXPR_FINE;
}

/* ---- names ------------------------------------------------------------------------------ */

static int call_ksymbol(struct expr_run *run, const struct expr_value *args, size_t nargs,
			struct expr_value *result)
{
	static const char unknown[] = "[unknown]";
	struct function_ctx *ctx = run->ctx;
	struct kernel_symbol sym = { .name = unknown };

	if (ctx->a->names.symbolizer)
		symbolizer_kernel(ctx->a->names.symbolizer, args[0].u, &sym);
	set_text(result, sym.name, strlen(sym.name));   /* valid as long as the symbol table */
	return EXPR_FINE;
}

static int put_name(struct expr_run *run, const char *name, struct expr_value *result)
{
	size_t from = run->text_used;

	if (!append(run, "%s", name))
		return EXPR_ROOM;
	set_text(result, run->text + from, run->text_used - from);
	return EXPR_FINE;
}

static int call_comm_get(struct expr_run *run, const struct expr_value *args, size_t nargs,
			 struct expr_value *result)
{
	struct function_ctx *ctx = run->ctx;
	pid_t task = stream_named(ctx->a->stream, (pid_t)args[0].s);

	/* the argument can also be _tid, which is not the kernel's own id: then it is used as it is */
	return put_name(run, analysis_comm(ctx->a, task & PIDMAP_OUTER ? (pid_t)args[0].s : task), result);
}

static int call_comm(struct expr_run *run, const struct expr_value *args, size_t nargs, struct expr_value *result)
{
	struct function_ctx *ctx = run->ctx;

	return put_name(run, analysis_comm(ctx->a, ctx->tid), result);
}

static int call_syscall_name(struct expr_run *run, const struct expr_value *args, size_t nargs,
			     struct expr_value *result)
{
	char buf[64];
	const struct function_ctx *ctx = run->ctx;
	const int64_t call = sampled_call(ctx->s, args[0].s);
	const char *name = syscall_name(call);

	if (!name)
		return put_name(run, call_name(call, buf, sizeof(buf)), result);
	set_text(result, name, strlen(name));   /* static */
	return EXPR_FINE;
}

static int call_exit_reason(struct expr_run *run, const struct expr_value *args, size_t nargs,
			    struct expr_value *result)
{
	char buf[64];

	return put_name(run, exit_reason_name(args[0].u, buf, sizeof(buf)), result);
}

const struct expr_func analysis_functions[FUNCTIONS] = {
	[SCHEMA_COMM] = { "_comm", "", EXPR_TEXT, NULL, call_comm },
	{ "printf", "c*", EXPR_TEXT, check_printf, call_printf },
	{ "ksymbol", "i", EXPR_TEXT, NULL, call_ksymbol },
	{ "comm_get", "i", EXPR_TEXT, NULL, call_comm_get },
	[FUNCTION_SYSCALL_NAME] = { "syscall_name", "i", EXPR_TEXT, NULL, call_syscall_name },
	{ "exit_reason_str", "i", EXPR_TEXT, NULL, call_exit_reason },
};

bool functions_need_kernel(const char *expr)
{
	return strstr(expr, "ksymbol");
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts arguments of probes to the kernel's fetch arguments (trace/kprobetrace.rst,
 * trace/uprobetracer.rst). A USDT note has them in assembler syntax: N@OPERAND, N the size in
 * bytes, negative if signed.
 */
#include "events/probes.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERAND = 64 };

/* The text comes from an untrusted file: the value is parsed and printed again. */
__attribute__((unused)) static bool constant(const char *text, char *buf, size_t size)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 0);
	if (errno || end == text || *end)
		return false;
	return (size_t)snprintf(buf, size, "\\%lld", value) < size;
}

#if defined(__aarch64__)

static const char *const argument_registers[] = { "%x0", "%x1", "%x2", "%x3", "%x4", "%x5" };
static const char *const dwarf_registers[] = {
	"%x0", "%x1", "%x2", "%x3", "%x4", "%x5", "%x6", "%x7", "%x8", "%x9", "%x10", "%x11", "%x12", "%x13", "%x14", "%x15",
	"%x16", "%x17", "%x18", "%x19", "%x20", "%x21", "%x22", "%x23", "%x24", "%x25", "%x26", "%x27", "%x28", "%x29", "%x30",
	"%sp",
};

/* "x0" "w0" "sp": the kernel's names, except for w registers. */
static bool register_name(const char *text, char *name)
{
	size_t len = strlen(text);

	if (!strcmp(text, "sp"))
		return strcpy(name, "sp");
	if (len < 2 || len > 3 || !strchr("xw", text[0]) || strspn(text + 1, "0123456789") != len - 1)
		return false;
	snprintf(name, 8, "x%s", text + 1);
	return true;
}

/* "[x2]" or "[sp, 12]" */
static bool fetch_memory(char *operand, char *buf, size_t size)
{
	char name[8], *comma = strchr(operand, ','), *end;
	size_t len = strlen(operand);
	long offset = 0;

	if (operand[len - 1] != ']')
		return false;
	operand[len - 1] = '\0';
	if (comma) {
		*comma = '\0';
		offset = strtol(comma + 1, &end, 0);
		if (end == comma + 1 || *end)
			return false;
	}
	return register_name(operand + 1, name) && snprintf(buf, size, "%+ld(%%%s)", offset, name) > 0;
}

static bool fetch_of(char *operand, char *buf, size_t size)
{
	char name[8];

	if (operand[0] == '[')
		return fetch_memory(operand, buf, size);
	if (isdigit((unsigned char)operand[0]) || operand[0] == '-')
		return constant(operand, buf, size);
	return register_name(operand, name) && snprintf(buf, size, "%%%s", name) > 0;
}

#elif defined(__x86_64__)

static const char *const argument_registers[] = { "%di", "%si", "%dx", "%cx", "%r8", "%r9" };
static const char *const dwarf_registers[] = {
	"%ax", "%dx", "%cx", "%bx", "%si", "%di", "%bp", "%sp", "%r8", "%r9", "%r10", "%r11", "%r12", "%r13", "%r14", "%r15",
};

/* "%eax" "%al" "%r8d" -> "ax" "ax" "r8"; the high bytes (%ah) cannot be fetched. */
static bool register_name(const char *text, char *name)
{
	static const char *const names[][5] = {
		{ "ax", "rax", "eax", "ax", "al" }, { "bx", "rbx", "ebx", "bx", "bl" },
		{ "cx", "rcx", "ecx", "cx", "cl" }, { "dx", "rdx", "edx", "dx", "dl" },
		{ "si", "rsi", "esi", "si", "sil" }, { "di", "rdi", "edi", "di", "dil" },
		{ "bp", "rbp", "ebp", "bp", "bpl" }, { "sp", "rsp", "esp", "sp", "spl" },
	};
	char *end;

	if (*text++ != '%')
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (size_t k = 1; k < 5; k++)
			if (!strcmp(names[i][k], text))
				return strcpy(name, names[i][0]);
	if (text[0] == 'r' && isdigit((unsigned char)text[1])) {
		long n = strtol(text + 1, &end, 10);

		if (n < 8 || n > 15 || (*end && (!strchr("bwd", *end) || end[1])))
			return false;
		snprintf(name, 8, "r%ld", n);
		return true;
	}
	return false;
}

/* "%edi", "$5", "-8(%rbp)"; an index or a symbol cannot be fetched. */
static bool fetch_of(char *operand, char *buf, size_t size)
{
	char name[8], *paren = strchr(operand, '('), *end;
	long offset;

	if (operand[0] == '$')
		return constant(operand + 1, buf, size);
	if (!paren)
		return register_name(operand, name) && snprintf(buf, size, "%%%s", name) > 0;
	offset = strtol(operand, &end, 0);
	if (end != paren || operand[strlen(operand) - 1] != ')')
		return false;
	operand[strlen(operand) - 1] = '\0';
	return register_name(paren + 1, name) && snprintf(buf, size, "%+ld(%%%s)", offset, name) > 0;
}

#else

static const char *const argument_registers[] = { NULL };
static const char *const dwarf_registers[] = { NULL };

static bool fetch_of(char *operand, char *buf, size_t size)
{
	return false;
}

#endif

const char *probe_register(unsigned int dwarf)
{
	return dwarf < sizeof(dwarf_registers) / sizeof(*dwarf_registers) ? dwarf_registers[dwarf] : NULL;
}

/* One N@OPERAND; false if the kernel cannot fetch it. */
static bool take_usdt_arg(const char *text, size_t len, unsigned int number, char *buf, size_t size)
{
	char word[MAX_OPERAND], fetch[MAX_OPERAND + 8], *at;
	long bytes;

	if (len >= sizeof(word))
		return false;
	memcpy(word, text, len);
	word[len] = '\0';
	bytes = strtol(word, &at, 10);
	if (*at != '@' || at == word)
		return false;
	if (labs(bytes) != 1 && labs(bytes) != 2 && labs(bytes) != 4 && labs(bytes) != 8)
		return false;
	if (!fetch_of(at + 1, fetch, sizeof(fetch)))
		return false;
	return (size_t)snprintf(buf, size, "arg%u=%s:%c%ld", number, fetch, bytes < 0 ? 's' : 'u',
				8 * labs(bytes)) < size;
}

/* The length of an argument: spaces within [...] belong to it. */
static size_t arg_length(const char *p)
{
	size_t n = 0;
	bool inside = false;

	for (; p[n] && (inside || p[n] != ' '); n++)
		inside = p[n] == '[' || (inside && p[n] != ']');
	return n;
}

size_t probe_args_of_usdt(const char *args, char *buf, size_t size)
{
	size_t used = 0, left_out = 0;
	unsigned int number = 0;

	buf[0] = '\0';
	for (const char *p = args + strspn(args, " "); *p; p += strspn(p, " ")) {
		size_t len = arg_length(p);
		char one[MAX_OPERAND + 32];
		size_t n;

		if (!take_usdt_arg(p, len, ++number, one, sizeof(one)) ||
		    used + (n = strlen(one)) + 2 > size) {
			left_out++;
		} else {
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? " " : "", one);
		}
		p += len;
	}
	return left_out;
}

int probe_args_of_function(const char *args, char *buf, size_t size)
{
	enum { NREGS = sizeof(argument_registers) / sizeof(*argument_registers) };
	size_t used = 0;

	while (*args) {
		bool is_arg = !strncmp(args, "$arg", 4) && isdigit((unsigned char)args[4]);
		unsigned int n = is_arg ? (unsigned int)(args[4] - '0') : 0;
		const char *reg = is_arg && n >= 1 && n <= NREGS ? argument_registers[n - 1] : NULL;

		if (is_arg && (!reg || isdigit((unsigned char)args[5])))
			return -ERANGE;
		if (used + 8 > size)
			return -E2BIG;
		if (is_arg)
			used += (size_t)snprintf(buf + used, size - used, "%s", reg);
		else
			buf[used++] = *args;
		args += is_arg ? 5 : 1;
	}
	buf[used] = '\0';
	return 0;
}

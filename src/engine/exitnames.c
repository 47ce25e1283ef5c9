/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/exitnames.h"

#include <stdio.h>
#include <string.h>

struct exit_name {
	uint64_t code;
	const char *name;
};

#if defined(__x86_64__)
#include <asm/kvm.h>
#include <asm/svm.h>
#include <asm/vmx.h>
#include <cpuid.h>

static const struct exit_name vmx[] = { VMX_EXIT_REASONS, { 0, NULL } };
static const struct exit_name svm[] = { SVM_EXIT_REASONS, { 0, NULL } };

/* CPUs of these vendors have SVM, others VMX. */
static const struct exit_name *names(void)
{
	static const char *const makers[] = { "AuthenticAMD", "HygonGenuine" };
	unsigned int eax, maker[3] = { 0 };

	__get_cpuid(0, &eax, &maker[0], &maker[2], &maker[1]);
	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++)
		if (!memcmp(maker, makers[i], sizeof(maker)))
			return svm;
	return vmx;
}

/* VMX: the basic exit reason is in bits 0 to 15; the higher bits are flags. */
static uint64_t proper(const struct exit_name *table, uint64_t code)
{
	return table == vmx ? code & 0xffff : code;
}
#else
static const struct exit_name arm64[] = { { 0, "IRQ" }, { 1, "SERROR" }, { 2, "TRAP" }, { 0, NULL } };

static const struct exit_name *names(void)
{
	return arm64;
}

static uint64_t proper(const struct exit_name *table, uint64_t code)
{
	return code;
}
#endif

const char *exit_reason_name(uint64_t code, char *buf, size_t size)
{
	const struct exit_name *table = names();
	uint64_t reason = proper(table, code);

	for (size_t i = 0; table[i].name; i++)
		if (table[i].code == reason)
			return table[i].name;
	snprintf(buf, size, "reason %llu", (unsigned long long)code);
	return buf;
}

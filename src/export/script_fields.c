/* SPDX-License-Identifier: Apache-2.0 */
/* The table of fields, and -F. Names and defaults are those of perf script. */
#include "export/script.h"

#include "base/nearest.h"

#include <string.h>

#define TRACEPOINTS SCRIPT_OF_TRACEPOINTS
#define SAMPLES SCRIPT_OF_SAMPLES
#define CHAINS SCRIPT_OF_CHAINS
#define OF_RAW SCRIPT_OF_RAW
#define DATA SCRIPT_OF_DATA

#define NUMBER(name, key, help, parts, shown, sign)                                                \
	{ #name, key, help, parts, shown, sign, script_##name, NULL, text_##name, NULL, NULL }
#define WORD(name, help, parts, shown)                                                             \
	{ #name, NULL, help, parts, shown, SCRIPT_WORD, NULL, script_##name, text_##name, NULL, NULL }
#define OWN(name, what, key, help, parts, shown)                                                   \
	{ name, key, help, parts, shown, SCRIPT_OWN, NULL, NULL, text_##what, json_##what, csv_##what }

#define ANY_WEIGHT (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)
#define ANY_ID (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)

const struct script_field script_fields[SCRIPT_NFIELDS] = {
	[SCRIPT_COMM] = WORD(comm, "what the thread was called then", PERF_SAMPLE_TID,
			     TRACEPOINTS | SAMPLES | DATA),
	[SCRIPT_PID] = NUMBER(pid, NULL, "its process", PERF_SAMPLE_TID, DATA, SCRIPT_SIGNED),
	[SCRIPT_TID] = NUMBER(tid, NULL, "the thread", PERF_SAMPLE_TID, TRACEPOINTS | SAMPLES | DATA, SCRIPT_SIGNED),
	[SCRIPT_CPU] = NUMBER(cpu, NULL, "the CPU it was on", PERF_SAMPLE_CPU, TRACEPOINTS | SAMPLES | DATA,
			      SCRIPT_SIGNED),
	[SCRIPT_MISC] = WORD(misc, "where the CPU was: K kernel, U user, H hypervisor, G guest's kernel, g guest's user",
			     0, 0),
	[SCRIPT_REALTIME] = NUMBER(realtime, NULL, "local time; for programs ns since 1970, if the recording has it",
				   PERF_SAMPLE_TIME, DATA, SCRIPT_SIGNED),
	[SCRIPT_TIME] = NUMBER(time, NULL, "seconds of the recording's clock; for programs ns", PERF_SAMPLE_TIME,
			       TRACEPOINTS | SAMPLES | DATA, SCRIPT_UNSIGNED),
	[SCRIPT_PERIOD] = NUMBER(period, NULL, "what the sample stands for: events since the one before", 0,
				 SAMPLES | DATA, SCRIPT_UNSIGNED),
	[SCRIPT_EVENT] = { "event", NULL, "its name", 0, TRACEPOINTS | SAMPLES | DATA, SCRIPT_WORD, NULL,
			   script_event_name, text_event, NULL, NULL },
	[SCRIPT_TRACE] = { "trace", "fields", "a tracepoint's text; for programs its fields", PERF_SAMPLE_RAW,
			   TRACEPOINTS | DATA, SCRIPT_OWN, NULL, NULL, text_trace, json_trace, NULL },
	[SCRIPT_ADDR] = NUMBER(addr, NULL, "the address of the data, or that was jumped to", PERF_SAMPLE_ADDR,
			       OF_RAW | DATA, SCRIPT_UNSIGNED),
	[SCRIPT_DATA_SRC] = NUMBER(data_src, NULL, "where the data was: the word, and what it says",
				   PERF_SAMPLE_DATA_SRC, OF_RAW | DATA, SCRIPT_UNSIGNED),
	[SCRIPT_WEIGHT] = NUMBER(weight, NULL, "what the access cost, mostly cycles", ANY_WEIGHT, OF_RAW | DATA,
				 SCRIPT_UNSIGNED),
	[SCRIPT_INS_LAT] = NUMBER(ins_lat, NULL, "what the whole instruction cost", PERF_SAMPLE_WEIGHT_STRUCT, OF_RAW | DATA,
				  SCRIPT_UNSIGNED),
	[SCRIPT_IP] = NUMBER(ip, NULL, "the instruction; with callchain, where the event has one", PERF_SAMPLE_IP,
			     SAMPLES | CHAINS | DATA, SCRIPT_UNSIGNED),
	[SCRIPT_SYM] = WORD(sym, "the function ip is in", PERF_SAMPLE_IP, SAMPLES | CHAINS | DATA),
	[SCRIPT_SYMOFF] = { "symoff", NULL, "the offset in that function, with sym", PERF_SAMPLE_IP, SAMPLES | CHAINS | DATA,
			    SCRIPT_OWN, NULL, NULL, NULL, data_symoff, data_symoff },
	[SCRIPT_DSO] = WORD(dso, "the file that function is in", PERF_SAMPLE_IP, SAMPLES | CHAINS | DATA),
	[SCRIPT_DSOFF] = { "dsoff", NULL, "the offset in that file, with dso; not in the kernel", PERF_SAMPLE_IP, 0,
			   SCRIPT_OWN, NULL, NULL, NULL, data_dsoff, data_dsoff },
	[SCRIPT_SRCLINE] = WORD(srcline, "file:line of its source", PERF_SAMPLE_IP, 0),
	[SCRIPT_CALLCHAIN] = OWN("callchain", chain, "stack", "who called it, a line each, in place of ip",
				 PERF_SAMPLE_CALLCHAIN, SAMPLES | CHAINS | DATA),
	[SCRIPT_IREGS] = OWN("iregs", iregs, NULL, "registers then", PERF_SAMPLE_REGS_INTR, 0),
	[SCRIPT_UREGS] = OWN("uregs", uregs, NULL, "registers of the user's part", PERF_SAMPLE_REGS_USER, 0),
	[SCRIPT_BRSTACK] = OWN("brstack", brstack, NULL, "branches before it, the youngest first: "
			       "from/to/predicted/transaction/abort/cycles/kind", PERF_SAMPLE_BRANCH_STACK, 0),
	[SCRIPT_PHYS_ADDR] = NUMBER(phys_addr, NULL, "the physical address of addr", PERF_SAMPLE_PHYS_ADDR,
				    OF_RAW | DATA, SCRIPT_UNSIGNED),
	[SCRIPT_DATA_PAGE_SIZE] = NUMBER(data_page_size, NULL, "size of addr's page; for programs bytes",
					 PERF_SAMPLE_DATA_PAGE_SIZE, OF_RAW | DATA, SCRIPT_UNSIGNED),
	[SCRIPT_CODE_PAGE_SIZE] = NUMBER(code_page_size, NULL, "size of ip's page", PERF_SAMPLE_CODE_PAGE_SIZE,
					 OF_RAW | DATA, SCRIPT_UNSIGNED),
	[SCRIPT_TRANSACTION] = NUMBER(transaction, NULL, "of a hardware transaction: what became of it",
				      PERF_SAMPLE_TRANSACTION, DATA, SCRIPT_UNSIGNED),
	[SCRIPT_CGROUP] = NUMBER(cgroup, NULL, "number of the control group", PERF_SAMPLE_CGROUP, DATA,
				 SCRIPT_UNSIGNED),
	[SCRIPT_ID] = NUMBER(id, NULL, "number of the event's counter", ANY_ID, 0, SCRIPT_UNSIGNED),
	[SCRIPT_RAW] = { "raw", NULL, "the raw data in hex", PERF_SAMPLE_RAW, 0, SCRIPT_OWN, NULL, NULL, text_raw, data_raw,
			 data_raw },
};

/* ---- -F --------------------------------------------------------------------------- */

static uint64_t bit_of(enum script_name i)
{
	return UINT64_C(1) << i;
}

static int unknown(const char *name, size_t len, struct fault *f)
{
	char text[64];
	struct nearest near;

	snprintf(text, sizeof(text), "%.*s", (int)(len < 60 ? len : 60), name);
	nearest_begin(&near, text);
	for (int i = 0; i < SCRIPT_NFIELDS; i++)
		nearest_offer(&near, script_fields[i].name);
	if (nearest_get(&near))
		return fault_usage(f, "--fields: there is no field \"%s\"; did you mean %s?", text, nearest_get(&near));
	return fault_usage(f, "--fields: there is no field \"%s\"; `perf-prof script -F help` lists them", text);
}

/* As in perf script, ip includes the chain. */
static int find(const char *name, size_t len, uint64_t *bits, struct fault *f)
{
	for (int i = 0; i < SCRIPT_NFIELDS; i++)
		if (strlen(script_fields[i].name) == len && !strncmp(script_fields[i].name, name, len)) {
			*bits = bit_of(i) | (i == SCRIPT_IP ? SCRIPT_BIT(CALLCHAIN) : 0);
			return 0;
		}
	return unknown(name, len, f);
}

/* One name. The last mention of a field counts. */
static int choose(struct script_choice *c, const char *name, size_t len, struct fault *f)
{
	char sign = len && (*name == '+' || *name == '-') ? *name : '\0';
	uint64_t bits = 0;

	if (find(name + !!sign, len - !!sign, &bits, f))
		return -1;
	if (sign == '+') {
		c->plus |= bits;
		c->minus &= ~bits;
	} else if (sign) {
		c->minus |= bits;
		c->plus &= ~bits;
		c->set &= ~bits;
	} else {
		c->set |= bits;
		c->whole = true;
	}
	return 0;
}

int script_choose(struct script_choice *choice, const char *text, struct fault *f)
{
	*choice = (struct script_choice){ 0 };
	if (!text)
		return 0;
	for (;; text++) {
		size_t len = strcspn(text, ",");

		if (!len)
			return fault_usage(f, "--fields: a name is missing at \"%s\"; expected something like "
					   "comm,tid,time,event,trace or +misc,-cpu", text);
		if (choose(choice, text, len, f))
			return -1;
		text += len;
		if (!*text)
			return 0;
	}
}

void script_list_fields(FILE *out)
{
	for (int i = 0; i < SCRIPT_NFIELDS; i++)
		fprintf(out, "%-16s%s\n", script_fields[i].name, script_fields[i].help);
}

/* ---- fields of an event ----------------------------------------------------------- */

static uint64_t shown_where(unsigned int where)
{
	uint64_t bits = 0;

	for (int i = 0; i < SCRIPT_NFIELDS; i++)
		if (script_fields[i].shown & where)
			bits |= bit_of(i);
	return bits;
}

static uint64_t usual(const struct script_event *e, bool data)
{
	uint32_t type = e->event->sampling ? e->event->sampling->attr.attr.type : PERF_TYPE_TRACEPOINT;
	unsigned int where = e->event->fmt ? SCRIPT_OF_TRACEPOINTS : SCRIPT_OF_SAMPLES;

	if (data)
		return shown_where(SCRIPT_OF_DATA);
	if (e->parts & PERF_SAMPLE_CALLCHAIN)
		where |= SCRIPT_OF_CHAINS;
	if (type == PERF_TYPE_RAW)
		where |= SCRIPT_OF_RAW;
	return shown_where(where);
}

static bool has(const struct script_event *e, const struct script_field *field)
{
	if (field == &script_fields[SCRIPT_TRACE])
		return e->event->fmt;
	if (field == &script_fields[SCRIPT_REALTIME] && !e->has_realtime)
		return false;
	return !field->parts || e->parts & field->parts;
}

/* Fields that are shown for each address of the chain are not shown in the line. */
static bool is_of_text(const struct script_event *e, int i)
{
	return script_fields[i].text && !(e->has_chain && i >= SCRIPT_IP && i <= SCRIPT_SRCLINE);
}

/* Its key is that of the first. */
const struct script_field script_who_field = {
	.name = "who", .key = "comm", .kind = SCRIPT_OWN, .text = text_who, .json = json_who, .csv = csv_who,
};

/* Text only: cpu, time and event together. */
static const struct script_field when = { .name = "when", .text = text_when };

/* Replaces n fields at `at` by one. */
static void join(const struct script_field **fields, size_t at, size_t n, const struct script_field *one)
{
	const struct script_field **to = &fields[at], **from = to + n;

	*to = one;
	while ((*++to = *from++))
		;
}

bool script_join_who(const struct script_field **f)
{
	for (int i = SCRIPT_COMM; i <= SCRIPT_TID; i++)
		if (f[i] != &script_fields[i])
			return false;
	join(f, 0, SCRIPT_TID + 1, &script_who_field);
	return true;
}

/* Writes common combinations of fields together. */
static void join_fields(struct script_event *e)
{
	const struct script_field *const *f = e->fields;
	size_t n = 0;

	while (f[n] && f[n] <= &script_fields[SCRIPT_TID])
		n++;
	if (n >= 2 && f[0] == &script_fields[SCRIPT_COMM])
		join(e->fields, 0, n, &script_who_field);
	for (n = 0; f[n]; n++)
		if (f[n] == &script_fields[SCRIPT_CPU] && f[n + 1] == &script_fields[SCRIPT_TIME] &&
		    f[n + 2] == &script_fields[SCRIPT_EVENT])
			join(e->fields, n, 3, &when);
}

/* As in perf script, dsoff shows dso, too. But `-F +dsoff` adds nothing to events without an address,
 * such as tracepoints. */
static bool brings_dso(const struct script_event *e, const struct script_choice *choice)
{
	const uint64_t places = SCRIPT_BIT(IP) | SCRIPT_BIT(SYM) | SCRIPT_BIT(CALLCHAIN);

	return e->shown & SCRIPT_BIT(DSOFF) && (choice->whole || e->shown & places);
}

void script_show(struct script_event *e, const struct script_choice *choice, bool data)
{
	uint64_t wanted = ((choice->whole ? choice->set : usual(e, data)) | choice->plus) & ~choice->minus;
	size_t n = 0;

	e->shown = 0;
	for (int i = 0; i < SCRIPT_NFIELDS; i++)
		if (wanted & bit_of(i) && has(e, &script_fields[i]))
			e->shown |= bit_of(i);
	if (brings_dso(e, choice) && !data)
		e->shown |= SCRIPT_BIT(DSO);
	e->has_chain = e->shown & SCRIPT_BIT(CALLCHAIN);
	/* if only the chain is chosen, show all of it */
	if (e->has_chain && !data && !(e->shown & (SCRIPT_BIT(IP) | SCRIPT_BIT(SYM) | SCRIPT_BIT(DSO))))
		e->shown |= SCRIPT_BIT(IP) | SCRIPT_BIT(SYM) | SCRIPT_BIT(SYMOFF) | SCRIPT_BIT(DSO);
	for (int i = 0; i < SCRIPT_NFIELDS; i++)
		if (e->shown & bit_of(i) && (data || is_of_text(e, i)))
			e->fields[n++] = &script_fields[i];
	e->fields[n] = NULL;
	if (data)
		script_join_who(e->fields);
	else
		join_fields(e);
}

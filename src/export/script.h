/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of perf-prof script: fields of samples by name, and the sample that is being
 * written. A field has a value; text, JSON lines and CSV are three ways to write it.
 *
 *	-F -> script_choice -> script_event: the fields to show, in order; one for each event
 *	sample -> script_line -> script_text(), script_json() or script_csv()
 */
#ifndef EXPORT_SCRIPT_H
#define EXPORT_SCRIPT_H

#include "engine/analysis.h"
#include "report/outbuf.h"

enum { SCRIPT_MAX_FRAMES = 8192, SCRIPT_SHORT = 64, SCRIPT_KEY = 32, SCRIPT_NWHO = 256 };

/* Index in the table of fields, in output order. */
enum script_name {
	SCRIPT_COMM, SCRIPT_PID, SCRIPT_TID, SCRIPT_CPU, SCRIPT_MISC, SCRIPT_REALTIME, SCRIPT_TIME,
	SCRIPT_PERIOD, SCRIPT_EVENT, SCRIPT_TRACE, SCRIPT_ADDR, SCRIPT_DATA_SRC, SCRIPT_WEIGHT,
	SCRIPT_INS_LAT, SCRIPT_IP, SCRIPT_SYM, SCRIPT_SYMOFF, SCRIPT_DSO, SCRIPT_DSOFF, SCRIPT_SRCLINE,
	SCRIPT_CALLCHAIN, SCRIPT_IREGS, SCRIPT_UREGS, SCRIPT_BRSTACK, SCRIPT_PHYS_ADDR,
	SCRIPT_DATA_PAGE_SIZE, SCRIPT_CODE_PAGE_SIZE, SCRIPT_TRANSACTION, SCRIPT_CGROUP, SCRIPT_ID,
	SCRIPT_RAW, SCRIPT_NFIELDS,
};

#define SCRIPT_BIT(name) (UINT64_C(1) << SCRIPT_##name)

enum script_kind {
	SCRIPT_UNSIGNED, SCRIPT_SIGNED, /* number() */
	SCRIPT_WORD,                   /* word() */
	SCRIPT_OWN,                    /* json() and csv() */
};

/* Where a field is shown by default. */
enum {
	SCRIPT_OF_TRACEPOINTS = 1,     /* text, as in perf script: tracepoints */
	SCRIPT_OF_SAMPLES = 2,         /* text: other events */
	SCRIPT_OF_CHAINS = 4,          /* text: events with call chains */
	SCRIPT_OF_RAW = 8,             /* text: raw events of a PMU */
	SCRIPT_OF_DATA = 16,           /* JSON and CSV */
};

struct script_line;
struct script_columns;

typedef int64_t script_number_fn(struct script_line *l);
typedef const char *script_word_fn(struct script_line *l);   /* NULL: this sample has none */
typedef void script_put_fn(struct script_line *l);

/* How JSON and CSV differ in writing a value. */
struct script_style {
	void (*text)(struct outbuf *b, const char *text, size_t len);
	const char *quote, *none;      /* around hex digits; for a value that is missing */
};

struct script_field {
	const char *name;
	const char *key;               /* for JSON and CSV; NULL: the name */
	const char *help;
	uint64_t parts;                /* PERF_SAMPLE_*: the field needs one of them; 0: none */
	uint8_t shown;                 /* SCRIPT_OF_* */
	enum script_kind kind;
	script_number_fn *number;
	script_word_fn *word;
	script_put_fn *text;           /* as perf script writes it, with spaces */
	script_put_fn *json;           /* writes the value */
	script_put_fn *csv;            /* writes the cell */
};

static inline const char *script_key(const struct script_field *f)
{
	return f->key ? f->key : f->name;
}

extern const struct script_field script_fields[SCRIPT_NFIELDS];

/* The fields of -F. */
struct script_choice {
	bool whole;                    /* `set` replaces the default; else the default changes */
	uint64_t set, plus, minus;
};

/* 0, or -1 with f. */
int script_choose(struct script_choice *choice, const char *text, struct fault *f);
void script_list_fields(FILE *out);

/* Output settings of an event. */
struct script_event {
	const struct stream_event *event;
	struct pev_format format;      /* of its samples */
	uint64_t parts;                /* PERF_SAMPLE_* that were recorded */
	uint64_t period;               /* for samples without a period */
	uint64_t shown;                /* bits of fields */
	bool has_chain;                /* the chain is shown below the line */
	bool has_realtime;             /* the recording has the time of day */
	char *title;                   /* "sched:sched_switch: ", padded to the widest */
	size_t title_len;
	const struct script_field *fields[SCRIPT_NFIELDS + 1];   /* NULL terminated */
	struct script_cell *cells;     /* CSV: fields of the tracepoint, by column */
	uint32_t ncells;
	struct script_key *keys;       /* JSON: of `fields`, */
	const struct script_key *trace_keys;   /* and of the fields of the tracepoint */
	char *key_text;
};

/* A key with what stands before it, such as {"comm": or ,"pid": */
struct script_key {
	const char *text;              /* SCRIPT_KEY bytes can be copied */
	uint32_t len;
	bool whole;                    /* with its value, the same for all samples of the event */
};

struct script_cell {
	uint32_t column;
	const struct trace_field *field;
};

/* Joins comm, pid and tid, if they are the first fields; NULL terminated. Returns whether they were. */
bool script_join_who(const struct script_field **fields);
/* Sets the fields of an event: those of `choice` that it has, by default those for text or data. */
void script_show(struct script_event *e, const struct script_choice *choice, bool data);

/* A thread as text, "comm 123/124 ", cached. */
struct script_who {
	int32_t pid, tid;
	uint32_t kind;                 /* what is in it; 0: nothing */
	uint32_t len;
	uint64_t changes;              /* generation of task names */
	char text[SCRIPT_SHORT];
};

/* The sample that is being written, with cached results. */
struct script_line {
	struct analysis *a;
	struct outbuf *out;
	const struct script_columns *columns;   /* CSV only */
	const struct script_style *style;       /* not text */
	bool ns;                       /* --ns: text shows times in ns */
	bool inlines;
	const struct script_event *event;
	const struct analysis_sample *s;
	uint64_t period;
	bool decoded, fits;            /* rec is decoded; the record is valid */
	bool named;                    /* `words` and `site` are set */
	struct pev_record rec;
	struct resolve_words words;    /* of ip, until another address is named */
	struct resolve_site site;
	struct chain_address ip;
	uint64_t second;               /* the second that `clock` shows */
	char clock[SCRIPT_SHORT];
	size_t clock_len;
	char srcline[512];
	char unknown[16];
	struct script_who who[SCRIPT_NWHO];
	struct chain_address chain[SCRIPT_MAX_FRAMES];
};

/* script.c: runs `perf-prof script --csv` or --json with these options into a file, for convert. The exit
 * code, or -1 with f. */
enum script_rows { SCRIPT_ROWS_JSON, SCRIPT_ROWS_CSV, SCRIPT_ROWS_CSV_SAFE };
int script_write(const struct analysis_opts *opts, const struct source_ops *const *sources, enum script_rows rows,
		 const char *output, struct fault *f);

/* script_values.c: decodes the sample; NULL if the record is inconsistent. */
const struct pev_sample *script_sample(struct script_line *l);
/* Its registers: of the user's part, or at the interrupt. NULL: as above. */
const struct pev_regs *script_regs(struct script_line *l, bool user);
/* Writes way_iregs() and way_uregs() by put_registers(), for text, json and csv. */
#define SCRIPT_REGISTERS(way)                                                                      \
	void way##_iregs(struct script_line *l)                                                    \
	{                                                                                          \
		put_registers(l, script_regs(l, false));                                           \
	}                                                                                          \
                                                                                                   \
	void way##_uregs(struct script_line *l)                                                    \
	{                                                                                          \
		put_registers(l, script_regs(l, true));                                            \
	}
/* Sets l->words to the name of ip. */
void script_name_ip(struct script_line *l);
/* Whether an address is in a file of a process, or in the vdso. Sets *offset. */
bool script_file_offset(const struct chain_address *a, const struct resolve_site *site, uint64_t *offset);
/* Sets l->chain to the addresses of the call chain. Returns their number. */
size_t script_chain(struct script_line *l);
void script_name_address(struct script_line *l, const struct chain_address *a, struct resolve_site *site,
			 struct resolve_words *words);
/* The inlined calls at an address, innermost first. 0: none, or not wanted. */
size_t script_inlines(struct script_line *l, const struct resolve_site *site, struct inline_frame *frames,
		      size_t max);
/* The name of an inlined function, as in the source. */
const char *script_inline_name(struct script_line *l, const struct resolve_site *site,
			       const struct inline_frame *frame);
/* For the table of fields. */
script_number_fn script_tid, script_pid, script_cpu, script_time, script_realtime, script_period, script_addr, script_ip,
	script_data_src, script_weight, script_ins_lat, script_phys_addr, script_data_page_size,
	script_code_page_size, script_transaction, script_cgroup, script_id;
/* Writes what `write` writes of the thread, cached: threads repeat. kind: differs for another `write`. */
void script_put_who(struct script_line *l, script_put_fn *write, uint32_t kind);
script_word_fn script_comm, script_event_name, script_sym, script_dso, script_misc, script_srcline;
/* Values that JSON and CSV write alike. */
script_put_fn data_symoff, data_dsoff, data_raw;
/* comm, pid and tid together. */
extern const struct script_field script_who_field;

/* script_text.c: one function for each field, and one for a line. */
script_put_fn text_who, text_when, text_comm, text_pid, text_tid, text_cpu, text_misc, text_time, text_realtime, text_period,
	text_event, text_trace, text_addr, text_data_src, text_weight, text_ins_lat, text_ip, text_sym, text_dso,
	text_srcline, text_chain, text_iregs, text_uregs, text_brstack, text_phys_addr, text_data_page_size,
	text_code_page_size, text_transaction, text_cgroup, text_id, text_raw, script_text;
/* Without the space behind it. */
void text_branch(struct script_line *l, const struct pev_branch *b);

/* script_json.c */
script_put_fn json_who, json_trace, json_chain, json_iregs, json_uregs, json_brstack, script_json;
extern const struct script_style script_json_style;
/* Fills in the keys of an event; its keys and key_text are to be freed. 0, or -1 with f. */
int script_json_keys(struct script_event *e, struct fault *f);

/* script_csv.c */
script_put_fn csv_who, csv_chain, csv_iregs, csv_uregs, csv_brstack;
extern const struct script_style script_csv_style;

struct script_column;

/* The columns of all events. */
struct script_columns {
	uint64_t shown;                /* fields that some event shows */
	const struct script_field *fields[SCRIPT_NFIELDS + 1];   /* the same, NULL terminated */
	uint64_t bits[SCRIPT_NFIELDS];                           /* and in `shown` */
	struct script_column *trace;   /* names of tracepoint fields, each once, in order */
	uint32_t ntrace;
};

/* 0, or -1 with f. */
int script_columns(struct script_columns *c, struct script_event *events, size_t n, struct fault *f);
void script_columns_free(struct script_columns *c);
void script_csv_head(const struct script_columns *c, struct outbuf *out);
/* Uses l->columns. */
void script_csv(struct script_line *l);
#endif

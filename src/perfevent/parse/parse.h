/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsing event lists, in four parts: parse.c walks the text, event_names.c turns a name into
 * events, terms.c applies /terms/ to them, modifiers.c the modifier letters.
 */
#ifndef PERFEVENT_PARSE_PARSE_H
#define PERFEVENT_PARSE_PARSE_H

#include "perfevent.h"

#define PARSE_TERMS_MAX 64
#define PARSE_EVENTS_MAX 65536     /* in a list: wildcards match many */
#define PARSE_TEXT_MAX (1u << 20)

/* Folders that describe the machine; tests use their own. */
struct pev_parse_env {
	const char *pmus;              /* /sys/bus/event_source/devices */
	const char *tracefs;           /* NULL: the mounted one */
};

/* An event in a list. Pointers in pub refer to the members below. */
struct pev_parsed_own {
	struct pev_parsed pub;
	union pev_attr_buf buf;
	char *label, *unit, *group_name;
	bool named;                    /* the label is from name= */
	int *cpus;
};

struct pev_attr_list {
	struct pev_parsed_own **events;
	size_t n;
};

/* name[=value], copied from the text. */
struct pev_term {
	char *name, *value;            /* value NULL: none */
	size_t at;                     /* offset of the name in the text */
};

struct pev_parser {
	const char *text;
	size_t pos;
	const struct pev_parse_env *env;
	struct pev_attr_list *list;
	struct pev_error *err;
	size_t *at;
	struct pev_term terms[PARSE_TERMS_MAX];   /* of the current event */
	size_t nterms;
	bool has_terms;                /* there were slashes */
	size_t first;                  /* index of the current event in the list */
};

int pev_attr_parse_at_(struct pev_attr_list **out, const char *text,
		       const struct pev_parse_env *env, size_t *at, struct pev_error *err);

/* Sets the offset, and "asked" with the position; returns -code. The format is the reason,
 * `expected` what is valid there (may be NULL). */
int pev_parse_fail_(struct pev_parser *p, size_t at, int code, const char *expected,
		    const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* pev_parse_fail_() for an err that lacks only the position. */
int pev_parse_fail_in_(struct pev_parser *p, size_t at, int rc);

/* Adds an event of type and config to the list; NULL if there is no memory or no room. */
struct pev_parsed_own *pev_parse_add_(struct pev_parser *p, uint32_t type, uint64_t config);
/* The whole text as a number: decimal, or hexadecimal after 0x. */
bool pev_parse_u64_(const char *text, uint64_t *value);
/* Frees the events from index n on. */
void pev_attr_list_cut_(struct pev_attr_list *list, size_t n);

/* name: the word at offset at. All add events to the list, with p->terms applied. */
int pev_parse_name_(struct pev_parser *p, const char *name, size_t at);
int pev_parse_pmu_(struct pev_parser *p, const char *name, size_t at);
int pev_parse_tracepoint_(struct pev_parser *p, const char *sys, const char *name, size_t at);
int pev_parse_number_(struct pev_parser *p, uint32_t type, uint64_t config);
/* True if name is a generic, raw or software event; no tracepoint system has such a name. */
bool pev_parse_is_generic_(const char *name);
/* True if a PMU of this machine has an event of that name. */
bool pev_parse_is_pmu_event_(const struct pev_parser *p, const char *name);
/* Applies a term that is valid for all events (period=, name=, ...). -ENOENT: another term. */
int pev_parse_term_(struct pev_parser *p, struct pev_parsed_own *e, const struct pev_term *term);
/* Applies all p->terms to an event without a PMU description. */
int pev_parse_own_terms_(struct pev_parser *p, struct pev_parsed_own *e);

/* Applies the letters in mods, at offset at, to the event; `leader`: pinned and exclusive are applied. */
int pev_parse_modifiers_(struct pev_parser *p, struct pev_parsed_own *e, const char *mods,
			 size_t at, bool leader);
bool pev_parse_are_modifiers_(const char *text);

/* pev_attr_label() with another description of the machine; env NULL: none, so that only generic
 * events have names. */
size_t pev_label_at_(const struct perf_event_attr *attr, const struct pev_parse_env *env,
		     char *buf, size_t size);
/* "ukp", without a colon. */
#define PEV_MODIFIERS_SIZE_ 16
void pev_label_modifiers_(const struct perf_event_attr *attr, char *buf);

/* Encodes names of CPU events by libpfm4. -ENOENT, also if it is not built in or not installed. */
int pev_pfm_encode_(const char *name, union pev_attr_buf *buf);
#endif

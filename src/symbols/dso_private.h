/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of dso share: the table of them, and how their files are read. */
#ifndef SYMBOLS_DSO_PRIVATE_H
#define SYMBOLS_DSO_PRIVATE_H

#include "symbols/budget.h"
#include "symbols/demangle.h"
#include "symbols/dso.h"
#include "symbols/errand.h"
#include "symbols/inlines.h"
#include "symbols/patience.h"
#include "symbols/vdso.h"

#include <time.h>

enum { DSO_BUCKETS = 1024, DSO_STARTED = 16, DSO_MAX_OPEN = 128 };   /* descriptors that are kept open */

enum dso_state { DSO_UNREAD, DSO_READ, DSO_NAMELESS };

/* Why what lies at its path was not taken: the further down, the more it says. */
enum dso_refusal {
	DSO_WELCOME,
	DSO_NOT_THERE,
	DSO_UNIDENTIFIED,
	DSO_UNREADABLE,
	DSO_OTHER_INODE,
	DSO_OTHER_ID,
	DSO_TOO_LONG,
	DSO_DEADLY,
};

/* Who mapped it last and where; 0: not known. */
struct dso_place {
	pid_t pid, parent;
	uint64_t start, end;
};

enum dso_asked { ASK_SYMBOL, ASK_INLINES, ASK_CFI, ASK_NAME, ASK_MAP };

struct dso_question {
	struct errand errand;        /* first */
	struct dsos *d;
	struct dso *dso;
	enum dso_asked what;
	uint64_t offset;
	const char *name;            /* of ASK_NAME */
	struct dso_place place;
	bool keeps_code;
};

/* While it is late, what is marked by * is the thread's. */
struct dso {
	struct dso *next;            /* of the bucket */
	struct dso *newer, *older;   /* by last use */
	struct dso_id id;
	uint64_t serial;
	unsigned int refs;
	struct dso_place place;
	bool late;                   /* a question about it is on: */
	struct dso_question question;
	size_t bytes;                /* of it that count in d->bytes */
	unsigned int open;           /* of its descriptors that count in d->dwarfs_open */
	enum dso_state state;        /* * */
	enum dso_refusal refusal;    /* * of the last reading */
	bool told;                   /* * it was */
	bool given_up;               /* * its time was up */
	uid_t owner;                 /* * of what was read last */
	uint64_t ns;                 /* * that all reading took */
	uint8_t found_id_size, found_id[BUILD_ID_MAX];   /* * of DSO_OTHER_ID: what is there */
	struct symfile *file;        /* * while DSO_READ */
	struct inlines *inlines;     /* * of it, from the first question on; or NULL */
	int dwarf;                   /* * descriptor of what has its DWARF; -1: none */
	int code;                    /* * descriptor of the file itself, if callers are asked for; -1 */
	bool code_asked;             /* since it was read */
	struct cfi *cfi;             /* * of it; or NULL */
	struct demangled *names;     /* * of it, as far as they were asked for */
	bool memory;                 /* no file is behind it */
	struct jit *jit;             /* of such memory, once there is code in it; or NULL */
	struct timespec seen;        /* CLOCK_REALTIME when it was first heard of */
	struct timespec mtime;       /* * of the file that was read */
	char name[];
};

struct dsos {
	const struct opener *opener;
	struct parser *parser;       /* or NULL */
	struct errands *errands;     /* the thread; NULL: who asks reads */
	struct patience patience;
	bool hurried, warm;          /* warm: something was asked */
	struct helpers helpers;
	_Atomic unsigned int nstarted;   /* processes that were started by the thread; the last of them: */
	pid_t started[DSO_STARTED];
	unsigned int told_started;
	const char *servers;         /* of debuginfod; NULL: nobody is asked */
	unsigned int asked;          /* how often they were: the thread's, as all to first_given_up */
	int verbose;
	struct budget budget;
	size_t given_up;             /* files; the first of them: */
	char first_given_up[256];    /* fit for a terminal */
	struct budget map_budget;    /* of perf maps */
	size_t max_bytes, bytes;
	struct dso *buckets[DSO_BUCKETS];
	struct dso *newest, *oldest;
	size_t unused;               /* without a reference */
	unsigned int dwarfs_open;    /* descriptors */
	bool keeps_code;             /* callers are asked for: files that are read stay open */
	uint64_t serials;
	uint64_t answers;            /* how often names of addresses have changed */
	struct jit *jits;
	struct jit *jits_read;       /* those of them that have names, or about which a question is on */
	unsigned int jits_open;      /* descriptors */
	struct vdso vdso;
};

/* dso.c */
void dso_touch_(struct dsos *d, struct dso *dso);
void dso_forget_file_(struct dsos *d, struct dso *dso);
void dso_keep_bound_(struct dsos *d);
/* What it takes counts, as it is used last. */
void dso_account_(struct dsos *d, struct dso *dso);
/* dso_ask.c: false while it is late. The first waits a little. */
bool dso_settle_(struct dsos *d, struct dso *dso);
bool dso_poll_(struct dsos *d, struct dso *dso);
/* Of a dso that is not late: has it read, and what is asked about. It is late from then on, or answered. */
void dso_send_(struct dsos *d, struct dso *dso, enum dso_asked what, uint64_t offset, const char *name);
/* The same, and dso_settle_(). */
bool dso_ask_(struct dsos *d, struct dso *dso, enum dso_asked what, uint64_t offset, const char *name);
void dsos_helper_started_(void *ctx, pid_t pid);
void dsos_tell_started_(struct dsos *d);
/* No thread is there any more. False: it does not end. */
bool dsos_end_(struct dsos *d);
/* Around all that has its file read. False: its time is up. */
bool dso_begin_reading_(struct dsos *d, struct dso *dso);
void dso_end_reading_(struct dsos *d, struct dso *dso);

/* dso_read.c, for the question that is on: reads the file as the process sees the path or, when it is gone, as we do. */
void dso_read_(struct dsos *d, struct dso *dso);
/* Gives its inlines the file that dwz made, if there is one. */
void dso_find_alt_(struct dsos *d, struct dso *dso);
/* Whether what is mapped now is another file than was read, though the same by its inode. */
bool dso_is_rewritten_(struct dsos *d, const struct dso *dso, pid_t pid);

/* dso_jit.c: of a dso that is memory. */
void dso_jit_free_(struct dsos *d, struct dso *dso);
void dso_jit_forget_(struct dsos *d, struct dso *dso);
bool dso_jit_find_(struct dsos *d, struct dso *dso, uint64_t addr, const char **name, uint64_t *into);
bool dso_jit_has_names_(const struct dso *dso);
const char *dso_jit_name_(const struct dso *dso);
/* For the question ASK_MAP: what the thread does, and what the asker does with the answer. */
void dso_jit_answer_(struct dsos *d, struct dso *dso);
void dso_jit_took_(struct dsos *d, struct dso *dso);
#endif

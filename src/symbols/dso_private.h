/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by dso*.c: the table of dsos, and reading their files. */
#ifndef SYMBOLS_DSO_PRIVATE_H
#define SYMBOLS_DSO_PRIVATE_H

#include "symbols/budget.h"
#include "symbols/dso.h"
#include "symbols/dwarf/inlines.h"
#include "symbols/elf/demangle.h"
#include "symbols/elf/disasm.h"
#include "symbols/elf/vdso.h"
#include "symbols/errand.h"
#include "symbols/patience.h"

#include <time.h>

enum { DSO_BUCKETS = 1024, DSO_STARTED = 16, DSO_MAX_OPEN = 128 };   /* DSO_MAX_OPEN: descriptors */

enum dso_state { DSO_UNREAD, DSO_READ, DSO_NAMELESS };

/* DSO_MAPPED: only in the mapping: it was deleted or replaced; DSO_COPY: another file with the same build id. */
enum dso_found { DSO_AT_PATH, DSO_MAPPED, DSO_COPY };

/* Why the file at the path was refused. If there are several reasons, the last one in this list is reported. */
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

/* The process that mapped it last, its parent, and the addresses; 0: not known. */
struct dso_place {
	pid_t pid, parent;
	uint64_t start, end;
};

/* ASK_MAP: a perf map is opened and read; ASK_OPEN: it is only opened. */
enum dso_asked { ASK_SYMBOL, ASK_INLINES, ASK_CFI, ASK_CODE, ASK_NAME, ASK_MAP, ASK_OPEN };

struct dso_question {
	struct errand errand;        /* has to be first */
	struct dsos *d;
	struct dso *dso;
	enum dso_asked what;
	uint64_t offset;
	const char *name;            /* for ASK_NAME */
	struct dso_place place;
	bool keeps_code;
};

/* While it is late, only the thread may touch the fields that are marked *. */
struct dso {
	struct dso *next;            /* in the bucket */
	struct dso *newer, *older;   /* by last use */
	struct dso_id id;
	uint64_t serial;
	unsigned int refs;
	struct dso_place place;
	bool late;                   /* this question has no answer yet: */
	struct dso_question question;
	size_t bytes;                /* its part of d->bytes */
	unsigned int open;           /* its part of d->dwarfs_open */
	enum dso_state state;        /* * */
	enum dso_refusal refusal;    /* * when it was last read */
	bool told;                   /* * the refusal was reported */
	bool changed;                /* * another file is at its path now */
	bool given_up;               /* * reading it took too long */
	uid_t owner;                 /* * user who owns the file that was read last */
	dev_t dev;                   /* * of that file */
	ino_t ino;                   /* * likewise */
	enum dso_found found;        /* * where it was */
	uint64_t ns;                 /* * total time spent on reading it */
	uint8_t found_id_size, found_id[BUILD_ID_MAX];   /* * for DSO_OTHER_ID: that of the file */
	struct symfile *file;        /* * if state is DSO_READ */
	struct inlines *inlines;     /* * from `dwarf`; NULL before the first question */
	int dwarf;                   /* * descriptor of the file with its DWARF; -1: none */
	int code;                    /* * descriptor of the file itself, for unwinding; -1: none */
	bool code_asked;             /* `code` was asked for since the file was read */
	struct cfi *cfi;             /* * from `code`; or NULL */
	struct disasm *disasm;       /* * the function that was asked for last, from `code`; or NULL */
	struct demangled *names;     /* * those that were asked for */
	bool memory;                 /* anonymous memory, not a file */
	struct jit *jit;             /* for such memory, once code was seen in it; or NULL */
	struct timespec seen;        /* CLOCK_REALTIME when it was first seen */
	struct timespec mtime;       /* * of the file that was read */
	char name[];
};

struct dsos {
	const struct opener *opener;
	struct parser *parser;       /* or NULL */
	struct errands *errands;     /* the thread; NULL: the asker reads files itself */
	struct patience patience;
	bool hurried, warm;          /* warm: dso_ask.c has asked the parser */
	struct helpers helpers;
	_Atomic unsigned int nstarted;   /* processes that the thread started; the last ones: */
	pid_t started[DSO_STARTED];
	unsigned int told_started;   /* how many of them `helpers` knows */
	const char *servers;         /* debuginfod servers; NULL: none is asked */
	unsigned int asked;          /* how often; only the thread may touch this and all to first_given_up */
	int verbose;
	struct budget budget;
	size_t given_up;             /* files that took too long; the first one: */
	char first_given_up[256];    /* escaped for a terminal */
	size_t changed;              /* files that are others now; the first one: */
	char first_changed[256];     /* likewise */
	struct budget map_budget;    /* for perf maps */
	size_t max_bytes, bytes;
	struct dso *buckets[DSO_BUCKETS];
	struct dso *newest, *oldest;
	size_t unused;               /* dsos without a reference */
	unsigned int dwarfs_open;    /* descriptors of files */
	bool keeps_code;             /* stacks are unwound: files stay open after they are read */
	uint64_t serials;
	uint64_t answers;            /* how often names of addresses have changed */
	struct jit *jits;
	struct jit *jits_read;       /* those that have names, or about which a question is on */
	unsigned int jits_open;      /* descriptors of perf maps */
	struct vdso vdso;
};

/* dso.c */
void dso_keep_bound_(struct dsos *d);
/* Counts its memory and descriptors again, and makes it the dso used last. */
void dso_account_(struct dsos *d, struct dso *dso);
/* dso_ask.c: take the answer, if there is one. False: it is still late. dso_settle_() waits a
 * little, dso_poll_() does not. */
bool dso_settle_(struct dsos *d, struct dso *dso);
bool dso_poll_(struct dsos *d, struct dso *dso);
/* Asks a question about a dso that is not late. Afterwards it is late, or has the answer. */
void dso_send_(struct dsos *d, struct dso *dso, enum dso_asked what, uint64_t offset, const char *name);
/* dso_send_(), then dso_settle_(). */
bool dso_ask_(struct dsos *d, struct dso *dso, enum dso_asked what, uint64_t offset, const char *name);
void dsos_helper_started_(void *ctx, pid_t pid);
void dsos_tell_started_(struct dsos *d);
/* Ends the thread. False: it does not end. */
bool dsos_end_(struct dsos *d);
/* Call these before and after its file is read. False: its time is up. */
bool dso_begin_reading_(struct dsos *d, struct dso *dso);
void dso_end_reading_(struct dsos *d, struct dso *dso);

/* dso_read.c, for the present question: reads the file that the process sees at the path or, if it has ended, that
 * perf-prof sees there. */
void dso_read_(struct dsos *d, struct dso *dso);
/* Adds the file that dwz(1) made to dso->inlines, if there is one. */
void dso_find_alt_(struct dsos *d, struct dso *dso);
/* Whether the file was written to since it was read: it has the same inode, and other contents. */
bool dso_is_rewritten_(struct dsos *d, const struct dso *dso, pid_t pid);

/* dso_jit.c: for a dso that is anonymous memory. */
void dso_jit_free_(struct dsos *d, struct dso *dso);
void dso_jit_forget_(struct dsos *d, struct dso *dso);
bool dso_jit_find_(struct dsos *d, struct dso *dso, uint64_t addr, const char **name, uint64_t *into);
bool dso_jit_has_names_(const struct dso *dso);
const char *dso_jit_name_(const struct dso *dso);
/* For the questions ASK_MAP and ASK_OPEN: what the thread does, and what the asker does with the answer. */
void dso_jit_answer_(struct dsos *d, struct dso *dso);
void dso_jit_took_(struct dsos *d, struct dso *dso);
#endif

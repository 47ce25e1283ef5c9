/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter for a user's script: started through PyConfig. loader.py loads the script; its
 * functions are called by name.
 */
#ifndef PYTHON_HOST_H
#define PYTHON_HOST_H

#include "engine/job.h"
#include "python/batches.h"
#include "python/event.h"
#include "python/frames.h"
#include "stream/names.h"
#include "stream/stream.h"

#include <stdint.h>

/*
 * Exceptions of a script's functions are printed and counted, and the run continues. The first ones
 * are printed in full; then a line per kind, at most once a second, and the total at the end.
 */

enum { TROUBLE_FULL = 3, TROUBLE_KINDS = 16 };

struct trouble_kind {
	char name[96];         /* "KeyError in sched__sched_wakeup" */
	uint64_t count, told;
};

struct trouble {
	struct trouble_kind kinds[TROUBLE_KINDS];   /* the last one counts all others */
	int nkinds;
	uint64_t count;
	uint64_t told_ns;
};

/* Takes the current SystemExit and returns its exit code. Other values than numbers are printed. */
int trouble_take_exit(void);

struct host_script;

struct host {
	PyObject *module;             /* the script */
	PyObject *namespace;          /* its __dict__ */
	PyObject *on_init, *on_lost, *on_interval, *on_print_stat, *on_exit;
	int lost_takes;               /* number of arguments of on_lost: 2 or 3 */
	PyTypeObject *event_type, *frame_type;
	const struct batch_types *batch_types;
	struct batches *batches;      /* NULL before host_attach() */
	struct event_naming naming;   /* names of tasks for the batches */
	struct perf_event *event;     /* reused unless the script keeps a reference */
	struct event_class *classes;
	size_t nclasses;
	struct stream *stream;
	struct trouble trouble;
	struct names names;
	struct frames *frames;        /* NULL without names.symbolizer */
	struct printing *printing;    /* of event.print() */
	PyObject *loader;             /* the module loader.py */
	int output_error;             /* errno of a failed write to sys.stdout, or 0 */
	PyThreadState *thread;        /* set while the loop waits */
	pid_t pid;                    /* to recognize children that the script forks */
	struct perf_event *held;      /* a second reference to `event`, or NULL */
	const struct host_script *script;
	bool told_ignored;            /* what host_ignored_text() says */
	int verbose;
	uint64_t interval_ms, batch_rows;
	bool started;
	struct job job;               /* the command that is watched */
	int exit_code;                /* from the script's sys.exit(), or the command's */
	bool returned, raised;        /* some call of a function for events did so */
};

struct host_script {
	const char *module;           /* path or name, as given */
	char **argv;                  /* the script's own arguments */
	int argc;
	const char *venv;             /* --venv, or NULL */
	int verbose;                  /* for note() */
	uint64_t interval_ms;         /* -i; 0: __interval__() is not called */
	uint64_t batch_rows;          /* --batch */
	bool inside;                  /* Python runs already: that of the environment where pip installed perf-prof */
};

/* Call it first, with the stream whose events the script gets. 0, or -1 with f. */
int host_begin(struct host *h, struct stream *stream, const struct opener *opener, struct fault *f);
/* Checks that the script can be found and compiled, without running it. 0, or the exit code, after
 * printing the error. The process must exit then. */
int host_try(const struct host_script *script);
/* Starts the interpreter and runs the top level of the script. 0, or -1 with f. */
int host_start(struct host *h, const struct host_script *script, struct fault *f);
/* Finds the handlers and marks the events that are wanted. 0, or -1 with f. */
int host_attach(struct host *h, struct fault *f);
/* Calls __init__(). 0, or -1 with f if it raised. */
int host_init(struct host *h, struct fault *f);
void host_exit(struct host *h);       /* calls __exit__() */
/* Ends the interpreter, and with it the events that the script kept. */
void host_finish(struct host *h);

/* Functions of stream_ops; ctx is the host. */
void host_sample(void *ctx, const struct stream_event *event, const struct perf_event_header *rec,
		 const void *raw, uint32_t raw_size, uint32_t cpu);
void host_lost(void *ctx, const struct stream_loss *loss);
void host_interval(void *ctx);
void host_print_stat(void *ctx);
void host_idle(void *ctx);
void host_interrupt(void *ctx);
void host_wait(void *ctx, bool begin);

/* ---- load.c: the interpreter */

/* 0, or -1 with f. */
int host_start_interpreter(const struct host_script *script, struct fault *f);
/* venv: that of --venv, or NULL. -1 with f if another version of Python made it. */
int host_check_version(const char *venv, struct fault *f);
/* The message about variables that root ignores, or about a $VIRTUAL_ENV of another version: why, and what to do. False if
 * there is nothing to say. */
bool host_ignored_text(const struct host_script *script, char *buf, size_t size);
void host_tell_ignored(const struct host_script *script);   /* prints it as a note */

/* ---- load.c: the script */

/* nearest(wanted, list of names): the most similar name, or None. */
PyObject *host_nearest(PyObject *self, PyObject *args);
/* Imports loader.py. NULL with an exception. */
PyObject *host_import_loader(void);
/* Loads the script with h->loader. 0; -1 with f; or -1 without f after sys.exit(). */
int host_load(struct host *h, const struct host_script *script, struct fault *f);
/* The text of an exception, which may name a file by any bytes. */
const char *host_error_text(PyObject *error, char *buf, size_t size);
/* Handles KeyboardInterrupt while the script is set up. Returns -1 with f. */
int host_interrupted(struct fault *f);
/* -1 with f if Ctrl-C was pressed before the loop runs. */
int host_check_interrupt(struct fault *f);

/* Whether the current exception means that sys.stdout cannot be written; if so, clears it and stops the
 * run. */
bool host_take_broken_output(struct host *h);

/* Call it once the script is loaded and the names are open. */
int host_open_frames(struct host *h, struct fault *f);
/* Function of stream_ops. */
void host_task(void *ctx, const struct pev_record *rec);

/* The frames of an event's call chain: a new list, or NULL with an exception. */
PyObject *host_callchain(struct host *h, const struct perf_event *e);
/* The frames of an event that outlives its handler. They are looked up now, because mappings are not kept
 * forever. NULL, without an exception, if they can be looked up later. */
PyObject *host_chain_to_keep(struct host *h, const struct perf_event *e);
/* Frees what event.print() kept. */
void print_close(struct host *h);
/* The name of the event's task at the time of the event. Kept events have a copy. */
const char *event_comm(const struct perf_event *e);

extern PyObject *PyInit_perf_prof(void);
PyObject *event_restore(struct host *h, PyObject *args);
#endif

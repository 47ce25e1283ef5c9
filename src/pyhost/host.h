/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter that hosts a user's script: started through PyConfig, the script
 * loaded by loader.py, its functions called by name.
 */
#ifndef PYHOST_HOST_H
#define PYHOST_HOST_H

#include "pyhost/event.h"
#include "pyhost/frames.h"
#include "pyhost/trouble.h"
#include "stream/names.h"
#include "stream/stream.h"

struct host {
	PyObject *module;             /* the script */
	PyObject *namespace;          /* its __dict__ */
	PyObject *on_init, *on_sample, *on_lost, *on_interval, *on_print_stat, *on_exit;
	int lost_takes;               /* how many arguments on_lost takes: 2 or 3 */
	PyTypeObject *event_type, *frame_type;
	struct perf_event *event;     /* reused while the script keeps no reference */
	struct event_class *classes;
	size_t nclasses;
	struct stream *stream;
	struct trouble trouble;
	struct names names;
	struct frames *frames;        /* with names.symbolizer */
	struct printing *printing;    /* print.c: from one line to the next */
	PyObject *loader;             /* the module of loader.py */
	int output_error;             /* errno: sys.stdout can't be written */
	PyThreadState *thread;        /* while the loop waits */
	pid_t pid;                    /* a child that the script forks is not the host */
	struct perf_event *held;      /* fork.c: `event`, once more; or NULL */
	int verbose;
	uint64_t interval_ms;
	bool started;
	int exit_code;                /* of the script's sys.exit() */
};

struct host_script {
	const char *module;           /* path or name, as given */
	char **argv;                  /* the script's own arguments */
	int argc;
	const char *venv;             /* --venv, or NULL */
	int verbose;                  /* for note() */
	uint64_t interval_ms;         /* -i; 0: __interval__() is not called */
};

/* Before anything else: the host of that stream's events. 0, or -1 with f. */
int host_begin(struct host *h, struct stream *stream, const struct opener *opener, struct fault *f);
/* Whether the script can be found and compiled: 0, or the exit code after it has said what
 * is wrong. For a process that ends then; nothing of the script runs. */
int host_try(const struct host_script *script);
/* Starts the interpreter and loads the script (its top level runs). 0, or -1 with f. */
int host_start(struct host *h, const struct host_script *script, struct fault *f);
/* Finds the handlers of the stream's events and says which events are wanted. */
int host_attach(struct host *h, struct fault *f);
/* __init__(): 0, or -1 with f if it raised. */
int host_init(struct host *h, struct fault *f);
void host_exit(struct host *h);       /* __exit__() */
/* Ends the interpreter; events that the script kept are gone afterwards. */
void host_finish(struct host *h);

/* stream_ops, with the host as ctx. */
void host_sample(void *ctx, const struct stream_event *event, const struct perf_event_header *rec,
		 const void *raw, uint32_t raw_size, uint32_t cpu);
void host_lost(void *ctx, const struct stream_loss *loss);
void host_interval(void *ctx);
void host_print_stat(void *ctx);
void host_idle(void *ctx);
void host_interrupt(void *ctx);
void host_wait(void *ctx, bool begin);

/* ---- interpreter.c */

/* 0, or -1 with f. */
int host_start_interpreter(const struct host_script *script, struct fault *f);
/* What root does not take from the environment, why, and what to do; false: nothing is set. */
bool host_ignored_text(const struct host_script *script, char *buf, size_t size);
void host_tell_ignored(const struct host_script *script);   /* a hint */

/* ---- load.c */

/* Imports the loader, a module of our own; NULL with Python's exception. */
PyObject *host_import_loader(void);
/* Loads the script, with h's loader; 0, or -1 with f, or without it after sys.exit(). */
int host_load(struct host *h, const struct host_script *script, struct fault *f);
/* KeyboardInterrupt while the script is set up. Returns -1. */
int host_interrupted(struct fault *f);
/* Whether a Ctrl-C came before the loop, which hears all later ones: -1 with f. */
int host_check_interrupt(struct fault *f);

/* ---- output.c */

/* Whether the current exception says that sys.stdout can't be written; takes it if so. */
bool host_take_broken_output(struct host *h);
/* Flushes sys.stdout; the run ends where that cannot be written. */
void host_flush(struct host *h);

/* ---- fork.c */

/* Has to know of each fork in advance. 0, or -1 with an exception. */
int host_watch_forks(struct host *h);
/* Ends the process with `code` if it is a child that the script forked. */
void host_end_forked(const struct host *h, int code);

/* ---- tasknames.c */

/* Once the script is loaded and the names are open. */
int host_open_frames(struct host *h, struct fault *f);
/* For struct stream_ops. */
void host_task(void *ctx, const struct pev_record *rec);

/* The frames of an event's call chain: a new list, or NULL with an exception. */
PyObject *host_callchain(struct host *h, const struct perf_event *e);
/* For an event that outlives its handler: what is mapped is not remembered for ever, so its
 * frames are found now. NULL, without an exception, where they will do later, too. */
PyObject *host_chain_to_keep(struct host *h, const struct perf_event *e);
/* Frees what event.print() kept. */
void print_close(struct host *h);
/* The name of the event's task at the time of the event; kept events remember it. */
const char *event_comm(const struct perf_event *e);

extern PyObject *PyInit_perf_prof(void);
/* For module.c: where pickled events find what they are. */
void module_set_host(PyObject *module, struct host *h);
PyObject *event_restore(struct host *h, PyObject *args);
#endif

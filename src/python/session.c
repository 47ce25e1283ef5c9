/* SPDX-License-Identifier: Apache-2.0 */
/* The C half of perf_prof.Session and perf_prof.Recording; python/perf_prof/sessions.py has the other. */
#include "python/session.h"

#include "analysis/commands.h"
#include "columns/part.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* ---- making -------------------------------------------------------------------------- */

static int take_words(char ***to, size_t *n, PyObject *from)
{
	size_t unused;

	if (from != Py_None)
		*to = words_of(from, n ? n : &unused);
	return PyErr_Occurred() ? -1 : 0;
}

struct native *native_of_instance(PyObject *self)
{
	for (PyTypeObject *type = Py_TYPE(self); type; type = TYPE_SLOT(type, PyTypeObject *, base)) {
		PyObject *module = PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE ? PyType_GetModule(type) : NULL;

		if (module)
			return native_of(module);
		PyErr_Clear();   /* a class of Python, derived from ours */
	}
	PyErr_SetString(PyExc_TypeError, "not a session");
	return NULL;
}

/* Other threads may ask the object meanwhile: it has its session once the names of its columns are there. */
static int begin(struct session_object *o, struct session_asked *asked)
{
	struct session *s = NULL;
	struct fault f = { 0 };
	bool program = asked->words, live;     /* else a command has parsed its options */
	int rc;

	Py_BEGIN_ALLOW_THREADS
	rc = program ? session_asked_parse(asked, analysis_sources, &f) : 0;
	live = !asked->stream.input;
	if (rc)
		session_asked_free(asked);
	else
		s = session_new(asked, &f);
	Py_END_ALLOW_THREADS
	if (!s) {
		if (program && live)
			fault_say_what_works(&f);
		fault_raise(&f);
		return -1;
	}
	rc = fields_of_columns(&o->names, session_columns(s));
	o->session = s;
	o->ctx = s;
	return rc;
}

PyObject *session_object_new(struct native *native, struct session_asked *asked)
{
	struct session_object *o = (struct session_object *)PyType_GenericAlloc(native->session, 0);

	if (!o) {
		session_asked_free(asked);
		return NULL;
	}
	o->native = native;
	if (begin(o, asked))
		Py_CLEAR(o);
	return (PyObject *)o;
}

static int begin_with(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "words", "fields", "command", "ns", "filter", "input", NULL };
	struct session_object *o = (struct session_object *)self;
	PyObject *words, *fields = Py_None, *command = Py_None;
	struct session_asked asked;
	unsigned long long ns = 0;
	const char *filter = NULL;
	int input = -1;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOKzi", names, &words, &fields, &command, &ns, &filter, &input))
		return -1;
	o->native = native_of_instance(self);
	session_asked_init(&asked);
	asked.ns = ns;
	asked.stream.input_fd = input;   /* from here on, it is the session's */
	if (filter && !(asked.filter = strdup(filter)))
		PyErr_NoMemory();
	if (PyErr_Occurred() || !o->native || take_words(&asked.words, NULL, words) || take_words(&asked.fields, &asked.nfields, fields) ||
	    take_words(&asked.command, NULL, command)) {
		session_asked_free(&asked);
		return -1;
	}
	return begin(o, &asked);
}

/* Another thread may call it for the same object while this one waits without the GIL. */
static int session_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
	struct session_object *o = (struct session_object *)self;
	int rc;

	if (o->session || o->beginning) {
		PyErr_SetString(PyExc_RuntimeError, "the session has begun already");
		return -1;
	}
	o->beginning = true;
	rc = begin_with(self, args, kwargs);
	o->beginning = false;
	return rc;
}

static void session_dealloc(PyObject *self)
{
	struct session_object *o = (struct session_object *)self;
	PyTypeObject *type = Py_TYPE(self);
	struct session *session = o->session;
	struct branches *branches = o->branches;

	fields_release(&o->names);
	if (session) {
		Py_BEGIN_ALLOW_THREADS
		branches_release(branches);
		session_release(session);
		Py_END_ALLOW_THREADS
	}
	TYPE_SLOT(type, freefunc, free)(self);
	Py_DECREF(type);
}

/* ---- batches ------------------------------------------------------------------------- */

READER(session, session, .read_before = "batches of this session were read before, and are not in what is read now: "
					"make another session, or concatenate the batches")

static enum session_answer quiet_next(void *ctx, struct batch **out, struct fault *f)
{
	enum session_answer answer = session_next(ctx, out, f);

	if (answer != SESSION_FAILED)
		return answer;
	session_fail(ctx, f);
	return SESSION_END;
}

const struct source_kind session_quiet_kind = {
	"session", .columns = session_columns_of, .fd = session_fd_of, .next = quiet_next, .release = session_release_of,
};

struct session *session_opened(PyObject *self)
{
	return reader_opened(self, &session_kind);
}

PyObject *session_forked(void)
{
	PyErr_SetString(PyExc_RuntimeError, "the session belongs to the process that made it, and this is a fork of that one: "
			"begin another session here");
	return NULL;
}

struct session *session_unread(PyObject *self, const char *use)
{
	const struct session_object *o = (struct session_object *)self;
	struct session *s = session_opened(self);

	if (s && session_is_forked(s))
		return (struct session *)session_forked();
	if (s && (o->read || o->streamed)) {
		PyErr_Format(PyExc_ValueError, "batches of the session were read already, but %s() needs all: make another session", use);
		return NULL;
	}
	return s;
}

/* As in a notebook whose cell runs a second time. Threads that share a session may be late. -1: the warning is an exception. */
static int warn_if_read(const struct session_object *o)
{
	const char *text = o->streamed ? "the batches of this session went to an Arrow stream: make another session" :
			   o->ended == PyThread_get_thread_ident() ?
			   "all batches of this session were read already: make another one, or keep them in a list" : NULL;

	return text ? reader_warn(text) : 0;
}

static PyObject *session_iter(PyObject *self)
{
	const struct session_object *o = (struct session_object *)self;

	return reader_is_taken(self) || !session_opened(self) || warn_if_read(o) ? NULL : Py_NewRef(self);
}

static PyObject *close_it(PyObject *self, bool drop)
{
	struct branches *branches = ((struct session_object *)self)->branches;
	struct session *s = ((struct session_object *)self)->session;

	if (s) {
		Py_BEGIN_ALLOW_THREADS
		session_close(s);
		if (drop)
			session_drop(s);
		if (drop && branches)
			branches_drop(branches);
		Py_END_ALLOW_THREADS
	}
	Py_RETURN_NONE;
}

static PyObject *session_close_method(PyObject *self, PyObject *unused)
{
	return close_it(self, false);
}

static PyObject *session_enter(PyObject *self, PyObject *unused)
{
	return session_opened(self) ? Py_NewRef(self) : NULL;
}

static PyObject *session_exit(PyObject *self, PyObject *args)
{
	return close_it(self, true);
}

static PyObject *session_fileno(PyObject *self, PyObject *unused)
{
	struct session *s = session_opened(self);

	return !s ? NULL : session_is_forked(s) ? session_forked() : PyLong_FromLong(session_fd(s));
}

/* ---- what a query needs -------------------------------------------------------------- */

/* Adds the columns of an event's rows to those of its name. */
static int add_table(PyObject *tables, const struct row_plan *plan, PyObject *names)
{
	PyObject *name = column_name_text(plan->name), *table = name ? PyDict_GetItem(tables, name) : NULL;
	int rc = name ? 0 : -1;

	if (!table && !rc) {
		table = Py_BuildValue("(NN)", column_name_text(plan->word), PyDict_New());
		rc = table ? PyDict_SetItem(tables, name, table) : -1;
		Py_XDECREF(table);   /* the dict keeps it */
	}
	Py_XDECREF(name);
	for (size_t i = 0; i < plan->nreaders && !rc; i++) {
		PyObject *index = PyLong_FromUnsignedLong(plan->readers[i].column);

		rc = index ? PyDict_SetItem(PyTuple_GET_ITEM(table, 1), PyTuple_GET_ITEM(names, plan->readers[i].column), index) : -1;
		Py_XDECREF(index);
	}
	return rc;
}

static PyObject *session_tables_get(PyObject *self, void *unused)
{
	struct session_object *o = (struct session_object *)self;
	const struct plans *plans = o->session ? session_plans(o->session) : NULL;
	PyObject *tables = plans ? PyDict_New() : (PyObject *)session_opened(self);

	for (size_t i = 0; tables && plans && i < plans->n; i++)
		if (plans->v[i].nreaders && add_table(tables, &plans->v[i], o->names.tuple))
			Py_CLEAR(tables);
	return tables;
}

static PyObject *session_choose_method(PyObject *self, PyObject *args)
{
	struct session_object *o = (struct session_object *)self;
	struct fields names = { 0 }, old;
	char **words[2] = { NULL, NULL };
	PyObject *events, *fields;
	struct fault f = { 0 };
	int rc;

	/* a session that a signal has closed keeps its columns: a query over no rows has an answer, too */
	if (!o->session)
		return (PyObject *)session_opened(self);
	if (!PyArg_ParseTuple(args, "OO", &events, &fields) || reader_is_taken(self))
		return NULL;
	if (take_words(&words[0], NULL, events) || take_words(&words[1], NULL, fields)) {
		session_free_words(words[0]);
		return NULL;
	}
	/* with the GIL, which the session's thread never takes: other threads read the plans */
	rc = session_choose(o->session, words[0], words[1], &f);
	if (rc < 0)
		return fault_raise(&f);
	if (!rc) {
		/* another thread may ask for the names while these are made */
		if (fields_of_columns(&names, session_columns(o->session))) {
			fields_release(&names);
			return NULL;
		}
		old = o->names;
		o->names = names;
		fields_release(&old);
	}
	return PyBool_FromLong(!rc);
}

/* ---- numbers ------------------------------------------------------------------------- */

static PyObject *losses_of(const struct session_stats *t)
{
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < t->nlosses; i++) {
		const struct session_loss *l = &t->losses[i];

		list = list_put(list, Py_BuildValue("{s:i,s:s,s:K,s:K}", "cpu", l->cpu, "cause", loss_names[l->cause] + strlen("lost:"),
						    "count", (unsigned long long)l->count, "times", (unsigned long long)l->times));
	}
	return list;
}

static PyObject *numbers_of(const struct session_stats *t)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{ "delivered", t->totals.delivered }, { "lost", t->totals.lost }, { "throttled", t->totals.throttled },
		{ "malformed", t->totals.malformed }, { "late", t->totals.late }, { "filtered", t->totals.filtered },
		{ "own", t->totals.skipped }, { "limited", t->totals.limited }, { "ring_bytes", t->totals.ring_bytes },
		{ "batches", t->batches }, { "rows", t->rows }, { "waiting", t->waiting }, { "values", t->decoded },
		{ "short_of_memory", t->short_of_memory }, { "cpu_ns", t->cpu_ns }, { "stacks", t->stacks },
		{ "no_stack", t->no_stack },
	};
	PyObject *dict = PyDict_New();

	for (size_t i = 0; dict && i < sizeof(numbers) / sizeof(*numbers); i++)
		if (dict_put(dict, numbers[i].name, PyLong_FromUnsignedLongLong(numbers[i].value)))
			Py_CLEAR(dict);
	return dict;
}

static PyObject *session_stats_method(PyObject *self, PyObject *unused)
{
	struct session_object *o = (struct session_object *)self;
	struct session_stats t;
	PyObject *dict;

	if (!o->session)
		return (PyObject *)session_opened(self);
	if (!session_stats(o->session, &t))
		return session_is_forked(o->session) ? session_forked() : PyErr_NoMemory();
	dict = numbers_of(&t);
	if (dict && dict_put(dict, "losses", losses_of(&t)))
		Py_CLEAR(dict);
	free(t.losses);
	return dict;
}

static PyObject *session_gaps(PyObject *self, PyObject *unused)
{
	struct session *s = ((struct session_object *)self)->session;
	PyObject *list = !s ? (PyObject *)session_opened(self) : session_is_forked(s) ? session_forked() : PyList_New(0);
	struct session_gap g;

	for (size_t i = 0; list && session_gap(s, i, &g); i++)
		list = list_put(list, Py_BuildValue("(KKisK)", (unsigned long long)g.start, (unsigned long long)g.end, g.cpu,
						    loss_names[g.cause] + strlen("lost:"), (unsigned long long)g.count));
	return list;
}

static PyObject *session_closed_get(PyObject *self, void *unused)
{
	struct session *s = ((struct session_object *)self)->session;

	return PyBool_FromLong(!s || session_is_closed(s));
}

static PyObject *session_named(PyObject *self, PyObject *ms)
{
	struct session *s = ((struct session_object *)self)->session;
	long n = PyLong_AsLong(ms);
	bool there = true;

	if (n < 0)
		return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "%ld: expected 0 or more ms", n);
	if (s) {
		Py_BEGIN_ALLOW_THREADS
		there = session_wait_for_names(s, (unsigned int)n);
		Py_END_ALLOW_THREADS
	}
	return PyBool_FromLong(there);
}

static PyObject *session_note_method(PyObject *self, PyObject *text)
{
	struct session *s = ((struct session_object *)self)->session;
	const char *utf8 = PyUnicode_AsUTF8(text);

	if (!utf8)
		return NULL;
	if (s)
		session_add_note(s, utf8);
	Py_RETURN_NONE;
}

static PyObject *session_notes_get(PyObject *self, void *unused)
{
	struct session *s = ((struct session_object *)self)->session;
	PyObject *list = PyList_New(0);
	const char *text;

	for (size_t i = 0; list && s && (text = session_note(s, i)); i++)
		list = list_put(list, PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace"));
	return list;
}

/* The exit status of the command, as in shells; None: there is none, or it runs. */
static PyObject *session_returncode_get(PyObject *self, void *unused)
{
	struct session *s = ((struct session_object *)self)->session;
	struct session_stats t;

	if (!s || !session_stats(s, &t))
		Py_RETURN_NONE;
	free(t.losses);
	if (t.status < 0)
		Py_RETURN_NONE;
	return PyLong_FromLong(t.status);
}

/* ---- run() -------------------------------------------------------------------------- */

static const char capsule_name[] = "perf_prof part";

struct kept_part {
	struct part part;
	struct columns *whole;          /* of the batches that it is for: session_choose() may change those of the session */
	struct fields names;
};

static void free_part(struct kept_part *k)
{
	part_end(&k->part);
	columns_release(k->whole);
	fields_release(&k->names);
	free(k);
}

static void capsule_end(PyObject *capsule)
{
	free_part(PyCapsule_GetPointer(capsule, capsule_name));
}

static int begin_part(struct kept_part *k, struct session *s, PyObject *names, bool losses)
{
	size_t n;
	char **words = words_of(names, &n);
	int rc = words ? part_begin(&k->part, session_plans(s), (const char **)words, losses) : -EINVAL;

	k->whole = columns_keep(session_columns(s));
	session_free_words(words);
	if (rc == -ENOENT)
		PyErr_Format(PyExc_ValueError, "%R: the session lacks one of these events", names);
	else if (rc == -ENOMEM)
		PyErr_NoMemory();
	return rc ? -1 : fields_of_columns(&k->names, k->part.columns);
}

static PyObject *session_part(PyObject *self, PyObject *args)
{
	struct session_object *o = (struct session_object *)self;
	struct kept_part *k;
	PyObject *names, *capsule;
	int losses;

	if (!o->session)
		return (PyObject *)session_opened(self);
	if (!PyArg_ParseTuple(args, "O!p", &PyTuple_Type, &names, &losses))
		return NULL;
	k = calloc(1, sizeof(*k));
	if (!k)
		return PyErr_NoMemory();
	capsule = begin_part(k, o->session, names, losses) ? NULL : PyCapsule_New(k, capsule_name, capsule_end);
	if (!capsule)
		free_part(k);
	return capsule;
}

static PyObject *session_rows(PyObject *self, PyObject *args)
{
	struct session_object *o = (struct session_object *)self;
	struct batch_object *b;
	struct kept_part *k;
	struct batch *rows;
	PyObject *capsule;
	size_t events;

	if (!o->session)
		return (PyObject *)session_opened(self);
	if (!PyArg_ParseTuple(args, "OO!", &capsule, o->native->batches.batch, &b))
		return NULL;
	k = PyCapsule_GetPointer(capsule, capsule_name);
	if (!k)
		return NULL;
	if (!columns_are_like(b->batch->columns, k->whole))
		return PyErr_Format(PyExc_TypeError, "expected a batch of the session, with the columns that it had");
	if (part_take(&k->part, b->batch, b->from, b->n, &rows, &events))
		return PyErr_NoMemory();
	if (!rows)
		Py_RETURN_NONE;
	return batch_object_new(&o->native->batches, rows, 0, rows->rows, &k->names);
}

/* ---- the type ------------------------------------------------------------------------ */

static PyMethodDef methods[] = {
	{ "close", session_close_method, METH_NOARGS,
	  "Ends the session. A loop over its batches, in this thread or another, gets those that are ready, and ends." },
	{ "fileno", session_fileno, METH_NOARGS, "A descriptor that is readable when a batch is ready, or the session has ended." },
	{ "stats", session_stats_method, METH_NOARGS, "Numbers so far: delivered, lost, losses by CPU and cause, and others." },
	{ "_gaps", session_gaps, METH_NOARGS, "Losses so far: (start, end, cpu, cause, count)." },
	{ "_stack_count", session_stack_count, METH_NOARGS, "The number of different call stacks so far." },
	{ "_stack", session_stack, METH_VARARGS, "(number, patient): the numbers of the frames of a stack, innermost first." },
	{ "_stack_samples", session_stack_samples, METH_O, "(number): how many samples had that stack so far." },
	{ "_stack_settled", session_stack_settled, METH_O, "(patient): stacks below this number have all their names." },
	{ "_stack_frames", session_stack_frames, METH_O, "The frames from that number on." },
	{ "_stack_tables", session_stack_tables, METH_O,
	  "(patient): two batches: all stacks with the numbers of their frames, and all frames." },
	{ "_named", session_named, METH_O,
	  "(ms): waits for the names of all stacks, once the session has ended by itself. False: they are not there yet." },
	{ "_note", session_note_method, METH_O, "(text): adds a note." },
	{ "_choose", session_choose_method, METH_VARARGS,
	  "(events, fields): reads only these. False: reading has begun, so nothing changes." },
	{ "_part", session_part, METH_VARARGS, "(names, losses): for _rows(): the rows of these events, maybe with losses." },
	{ "_rows", session_rows, METH_VARARGS, "(part, batch): these rows in a batch of the session; None: there are none." },
	{ "__enter__", session_enter, METH_NOARGS, NULL },
	{ "__exit__", session_exit, METH_VARARGS, NULL },
	READER_METHODS(session),
	{ NULL },
};

static PyGetSetDef getset[] = {
	READER_GETSET(session),
	{ "_tables", session_tables_get, NULL, "{name of an event: (its function in scripts, {name of a column that it has: its index})}.", NULL },
	{ "closed", session_closed_get, NULL, "Whether close() was called.", NULL },
	{ "notes", session_notes_get, NULL, "Hints about the run, such as a frequency that was lowered.", NULL },
	{ "returncode", session_returncode_get, NULL, "The exit status of the command, once the session has ended.", NULL },
	{ NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_new, PyType_GenericNew }, { Py_tp_init, session_init }, { Py_tp_dealloc, session_dealloc },
	{ Py_tp_iter, session_iter }, { Py_tp_iternext, session_iternext },
	{ Py_tp_methods, methods }, { Py_tp_getset, getset },
	{ 0, NULL },
};

static PyType_Spec spec = {
	.name = "perf_prof._native.Session", .basicsize = sizeof(struct session_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .slots = slots,
};

int session_type_add(PyObject *module)
{
	struct native *native = native_of(module);

	native->session = type_add(module, &spec, "Session");
	return native->session ? 0 : -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What pyperf.Ring gives of an AUX area, which lies in plain memory here. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "checks.h"

#include "perfevent/rings/aux.h"
#include "pyperf/pyperf.h"

enum { SIZE = 64 };

static struct perf_event_mmap_page page;
static char area[SIZE];
static struct pev_aux_area inner;

static struct aux begin(bool snapshot)
{
	memset(&page, 0, sizeof(page));
	memset(area, 0, sizeof(area));
	pev_aux_attach_(&inner, &page, area, SIZE, snapshot);
	return (struct aux){ .area = &inner, .snapshot = snapshot };
}

/* Appends n letters as a PMU would. */
static void trace(size_t n)
{
	for (; n--; page.aux_head++)
		area[page.aux_head % SIZE] = (char)('a' + page.aux_head % 26);
}

static void gives(PyObject *bytes, uint64_t from, size_t n)
{
	assert_non_null(bytes);
	assert_int_equal(PyBytes_Size(bytes), n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(PyBytes_AsString(bytes)[i], 'a' + (from + i) % 26);
	Py_DECREF(bytes);
}

static void raises(PyObject *nothing)
{
	assert_null(nothing);
	assert_true(PyErr_ExceptionMatches(PyExc_ValueError));
	PyErr_Clear();
}

TEST(a_read_gives_what_is_new)
{
	struct aux a = begin(false);

	gives(aux_read(&a, -1), 0, 0);
	trace(40);
	gives(aux_read(&a, 10), 0, 10);
	assert_int_equal(page.aux_tail, 10);
	gives(aux_read(&a, -1), 10, 30);
	trace(50);                       /* over the end */
	gives(aux_read(&a, 30), 40, 30);
	gives(aux_read(&a, -1), 70, 20);
	assert_int_equal(page.aux_tail, 90);
	gives(aux_read(&a, -1), 0, 0);
}

TEST(chunks_go_with_their_records)
{
	struct aux a = begin(false);

	trace(30);
	gives(aux_chunk(&a, 0, 20), 0, 20);
	assert_int_equal(page.aux_tail, 20);
	gives(aux_chunk(&a, 25, 5), 25, 5);    /* what no record told of is passed over */
	assert_int_equal(page.aux_tail, 30);
	trace(60);
	gives(aux_chunk(&a, 30, 60), 30, 60);
	assert_int_equal(page.aux_tail, 90);
	gives(aux_chunk(&a, 90, 0), 0, 0);
}

TEST(records_that_lie_are_refused)
{
	static const struct {
		uint64_t offset, size;
	} lies[] = {
		{ 0, SIZE + 1 }, { 0, 21 }, { 20, 1 }, { 5, 16 }, { UINT64_MAX, 2 }, { 10, UINT64_MAX - 5 },
		{ 1ull << 63, 20 }, { 0, 4 }, { 2, 5 },      /* handed out already */
	};
	struct aux a = begin(false);

	trace(20);
	gives(aux_read(&a, 4), 0, 4);
	for (size_t i = 0; i < COUNT(lies); i++)
		raises(aux_chunk(&a, lies[i].offset, lies[i].size));
	assert_int_equal(page.aux_tail, 4);
	page.aux_head = 1ull << 40;           /* no more than there is */
	Py_XDECREF(aux_read(&a, -1));
	assert_int_equal(page.aux_tail, 4 + SIZE);
}

TEST(a_snapshot_is_read_as_often_as_one_likes)
{
	struct aux a = begin(true);

	trace(10);
	gives(aux_read(&a, -1), 0, 10);
	gives(aux_read(&a, 3), 0, 3);
	trace(100);                      /* round and round: the newest 64 are there */
	gives(aux_read(&a, -1), 46, SIZE);
	gives(aux_read(&a, -1), 46, SIZE);
	gives(aux_chunk(&a, 100, 10), 100, 10);
	assert_int_equal(page.aux_tail, 0);
}

static int begin_python(void **state)
{
	Py_InitializeEx(0);
	return 0;
}

static int end_python(void **state)
{
	return Py_FinalizeEx();
}

AROUND_ALL(begin_python, end_python)

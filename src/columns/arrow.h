/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The structures of the Arrow C data interface and of its streams, which other libraries read
 * without copying: https://arrow.apache.org/docs/format/CDataInterface.html and
 * https://arrow.apache.org/docs/format/CStreamInterface.html. Names and layout are theirs, for they
 * are an ABI; whoever fills one in defines release(), which sets itself to NULL.
 */
#ifndef COLUMNS_ARROW_H
#define COLUMNS_ARROW_H

#include <stdint.h>

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2

struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *schema);
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *array);
	void *private_data;
};

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *stream);
	void (*release)(struct ArrowArrayStream *stream);
	void *private_data;
};
#endif

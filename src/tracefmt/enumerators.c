/* SPDX-License-Identifier: Apache-2.0 */
#include "tracefmt/enumerators.h"

#include "base/room.h"
#include "base/textfile.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that follow a struct btf_type: `once`, and `each` for each of its members. */
static const struct { uint8_t once, each; } sizes[] = {
	[BTF_KIND_INT] = { 4, 0 }, [BTF_KIND_ARRAY] = { sizeof(struct btf_array), 0 },
	[BTF_KIND_STRUCT] = { 0, sizeof(struct btf_member) }, [BTF_KIND_UNION] = { 0, sizeof(struct btf_member) },
	[BTF_KIND_ENUM] = { 0, sizeof(struct btf_enum) }, [BTF_KIND_FUNC_PROTO] = { 0, sizeof(struct btf_param) },
	[BTF_KIND_VAR] = { sizeof(struct btf_var), 0 }, [BTF_KIND_DATASEC] = { 0, sizeof(struct btf_var_secinfo) },
	[BTF_KIND_DECL_TAG] = { sizeof(struct btf_decl_tag), 0 }, [BTF_KIND_TYPE_TAG] = { 0, 0 },
	[BTF_KIND_ENUM64] = { 0, sizeof(struct btf_enum64) },
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct enumerator *)a)->name, ((const struct enumerator *)b)->name);
}

/* Only the members that both kinds of enum have; a value of 32 bits is extended by its sign. */
static void add(struct enumerators *e, const struct btf_type *type, const char *at, const char *names, uint32_t nnames)
{
	struct btf_enum64 member = { 0 };
	const bool is_long = BTF_INFO_KIND(type->info) == BTF_KIND_ENUM64;

	memcpy(&member, at, is_long ? sizeof(member) : sizeof(struct btf_enum));
	if (!is_long && BTF_INFO_KFLAG(type->info) && (int32_t)member.val_lo32 < 0)
		member.val_hi32 = UINT32_MAX;
	if (member.name_off < nnames && ROOM_FOR_ONE(e->all, e->n))
		e->all[e->n++] = (struct enumerator){ names + member.name_off, (uint64_t)member.val_hi32 << 32 | member.val_lo32 };
}

void enumerators_read(struct enumerators *e, const char *btf, size_t len)
{
	struct btf_header head;
	struct btf_type type;
	const char *names;
	uint64_t at, end;

	if (len < sizeof(head))
		return;
	memcpy(&head, btf, sizeof(head));
	at = (uint64_t)head.hdr_len + head.type_off;
	end = at + head.type_len;
	names = btf + head.hdr_len + head.str_off;
	if (head.magic != BTF_MAGIC || end > len || (uint64_t)head.hdr_len + head.str_off + head.str_len > len || !head.str_len ||
	    names[head.str_len - 1])
		return;
	for (unsigned int kind; end - at >= sizeof(type); at += (uint64_t)sizes[kind].each * BTF_INFO_VLEN(type.info)) {
		memcpy(&type, btf + at, sizeof(type));
		kind = BTF_INFO_KIND(type.info);
		if (kind >= sizeof(sizes) / sizeof(*sizes))
			break;
		at += sizeof(type) + sizes[kind].once;
		if (at > end || (end - at) < (uint64_t)sizes[kind].each * BTF_INFO_VLEN(type.info))
			break;
		for (unsigned int i = 0; i < BTF_INFO_VLEN(type.info) && (kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64); i++)
			add(e, &type, btf + at + (size_t)i * sizes[kind].each, names, head.str_len);
	}
	if (e->n)
		qsort(e->all, e->n, sizeof(*e->all), by_name);
}

static int compare(const struct enumerator *e, const char *name, size_t len)
{
	const int order = strncmp(e->name, name, len);

	return order ? order : e->name[len] != '\0';
}

bool enumerators_find(const struct enumerators *e, const char *name, size_t len, uint64_t *value)
{
	size_t first = 0, end = e->n;

	while (first < end) {
		const size_t middle = (first + end) / 2;

		if (compare(&e->all[middle], name, len) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	if (first == e->n || compare(&e->all[first], name, len))
		return false;
	*value = e->all[first].value;
	while (++first < e->n && !compare(&e->all[first], name, len))
		if (e->all[first].value != *value)
			return false;
	return true;
}

static struct enumerators kernels;

static void read_kernels(void)
{
	size_t len;
	char *btf = textfile_whole(open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC), SIZE_MAX, &len);

	if (btf)
		enumerators_read(&kernels, btf, len);   /* the names stay in it */
}

bool enumerator_of_kernel(const char *name, size_t len, uint64_t *value)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_kernels);
	return enumerators_find(&kernels, name, len, value);
}

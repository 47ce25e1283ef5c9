/* SPDX-License-Identifier: Apache-2.0 */
/* Names that lie in another file than the code: programs made by the compiler here, split
 * by objcopy, found by checksum, by build id and inside of the file; and what is another's. */
#include "checks.h"

#include "symbols/elf/symsource.h"
#include "symbols/parser_kinds.h"

#include <sys/stat.h>

static char folder[] = "/tmp/symsource-XXXXXX";

/* A root in which the opener finds things: the folder itself, for process 1. */
static int file_in_folder(void *ctx, pid_t pid, const char *path)
{
	char real[512];

	if (!pid)
		return -ENOENT;
	snprintf(real, sizeof(real), "%s%s", folder, path);
	return opener_file(&opener_direct, 0, real);
}

static const struct opener in_folder = { file_in_folder, NULL, NULL };

__attribute__((format(printf, 1, 2)))
static int run(const char *fmt, ...)
{
	char command[1024];
	size_t n = (size_t)snprintf(command, sizeof(command), "cd %s && exec 2>/dev/null && ", folder);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command + n, sizeof(command) - n, fmt, ap);
	va_end(ap);
	return system(command);
}

/* main.c of a function that only .symtab knows, and one that is exported. */
static const char build[] = "printf 'static __attribute__((noinline,noclone)) int %s(int x) { return x * 3; }\\n"
	"int exported(int x) { return %s(x) + 1; }\\n"
	"int main(void) { return exported(1); }\\n' > main.c && "
	"gcc -O1 -g -rdynamic -Wl,--build-id=%s -o program main.c";

static bool can_build(void)
{
	return !run("exec >/dev/null; gcc --version && objcopy --version && strip --version && " "nm --version && xz --version");
}

/* The offset in the file of a function, by nm and readelf. */
static uint64_t offset_of(const char *function)
{
	char command[1024];
	unsigned long long value = 0, off, addr;
	FILE *f;

	snprintf(command, sizeof(command), "cd %s && nm program | awk '$3 == \"%s\" { print $1 }'; "
		 "readelf -lW program | awk '/LOAD.*E/ { print $2, $3 }'", folder, function);
	f = popen(command, "r");
	assert_int_equal(fscanf(f, "%llx %llx %llx", &value, &off, &addr), 3);
	pclose(f);
	return value - addr + off;
}

static uint64_t at, exported;    /* where the functions lie in it */

/* The program of a hidden function. */
static void make(const char *build_id)
{
	if (!can_build()) {
		print_message("# skip: needs gcc, binutils and xz\n");
		skip();
	}
	assert_int_equal(run("rm -rf usr .debug *"), 0);
	assert_int_equal(run(build, "hidden", "hidden", build_id), 0);
	at = offset_of("hidden");
	exported = offset_of("exported");
}

static struct symfile *open_program(struct parser *p)
{
	char path[128];
	struct symfile *f;
	int fd;

	snprintf(path, sizeof(path), "%s/program", folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	f = symsource_open(p, &in_folder, fd, 1, "/program", NULL);
	close(fd);
	return f;
}

static const char *name_at(struct symfile *f, uint64_t offset)
{
	static char name[256];
	const char *found;
	uint64_t into;

	if (!f || !symfile_find(f, offset + 1, &found, &into) || !strncmp(found, "program+0x", 10))
		return "none";
	assert_int_equal(into, 1);
	return strcpy(name, found);
}

/* By each kind of parser the same. */
static void has(const char *name)
{
	for (int place = PARSER_HERE; place <= PARSER_APART; place++) {
		struct parser *p = parser_new_all(&(struct parser_opts){ (enum parser_place)place });
		struct symfile *f = open_program(p);

		assert_non_null(f);
		assert_string_equal(name_at(f, at), name);
		assert_string_equal(name_at(f, exported), "exported");
		symfile_free(f);
		parser_free(p);
	}
}

TEST(by_debug_link)
{
	static const char *const places[] = { ".", ".debug", "usr/lib/debug" };
	for (unsigned int i = 0; i < COUNT(places); i++) {
		make("none");
		has("hidden");
		assert_int_equal(run("objcopy --only-keep-debug program program.debug && strip program && "
				     "objcopy --add-gnu-debuglink=program.debug program && mkdir -p %s && "
				     "mv program.debug place && mv place %s/program.debug",
				     places[i], places[i]), 0);
		has("hidden");
		/* one byte more, and it's another file */
		assert_int_equal(run("echo >> %s/program.debug", places[i]), 0);
		has("none");
		assert_int_equal(run("truncate -s 100 %s/program.debug", places[i]), 0);
		has("none");
		assert_int_equal(run("rm %s/program.debug; mkfifo %s/program.debug", places[i], places[i]), 0);
		has("none");
	}
}

TEST(by_build_id)
{
	make("0xabcdef0123456789");
	assert_int_equal(run("mkdir -p usr/lib/debug/.build-id/ab && objcopy --only-keep-debug program "
			     "usr/lib/debug/.build-id/ab/cdef0123456789.debug && strip program"), 0);
	has("hidden");
	/* another's in its place: by its own build id it isn't the right one */
	assert_int_equal(run("cp program stripped"), 0);
	assert_int_equal(run(build, "wrong", "wrong", "0xabcdef0123456780"), 0);
	assert_int_equal(run("objcopy --only-keep-debug program "
			     "usr/lib/debug/.build-id/ab/cdef0123456789.debug; mv stripped program"), 0);
	has("none");
}

/* As Fedora does it. */
TEST(by_mini_debug_info)
{
	make("none");
	assert_int_equal(run("nm -D program --format=posix --defined-only | awk '{ print $1 }' | sort > dynsyms; "
			     "nm program --format=posix --defined-only | awk '$2 ~ /[Tt]/ { print $1 }' | "
			     "sort > funcsyms; comm -13 dynsyms funcsyms > keep; "
			     "objcopy --only-keep-debug program debug; "
			     "objcopy -S --remove-section .gdb_index --remove-section .comment "
			     "--keep-symbols=keep debug mini; strip program; xz mini; "
			     "objcopy --add-section .gnu_debugdata=mini.xz program"), 0);
	has("hidden");
	/* damaged in the middle, and cut off */
	assert_int_equal(run("cp mini.xz whole.xz; printf XXXX | dd of=mini.xz bs=1 seek=80 conv=notrunc; "
			     "objcopy --update-section .gnu_debugdata=mini.xz program"), 0);
	has("none");
	assert_int_equal(run("head -c 100 whole.xz > mini.xz; " "objcopy --update-section .gnu_debugdata=mini.xz program"), 0);
	has("none");
}

/* A few kilobytes that unpack to gigabytes: no names, and no memory for them. */
TEST(a_bomb_in_it)
{
	make("none");
	assert_int_equal(run("strip program; head -c 300000000 /dev/zero | xz -0 > bomb.xz; "
			     "objcopy --add-section .gnu_debugdata=bomb.xz program"), 0);
	has("none");
}

/* What a parser sent that was taken over: every byte of it wrong once, and every length. */
TEST(hostile_answers)
{
	struct parser_bytes good = { 0 };
	struct symfile *f;
	char *copy;

	make("0xabcdef0123456789");
	f = open_program(NULL);
	assert_non_null(f);
	assert_int_equal(symfile_pack(f, &good), 0);
	symfile_free(f);
	copy = malloc(good.size);
	for (size_t n = 0; n < good.size; n += 13)
		assert_null(symfile_unpack(good.data, n));
	for (size_t i = 0; i < good.size; i++) {
		memcpy(copy, good.data, good.size);
		copy[i] ^= (char)0xff;
		f = symfile_unpack(copy, good.size);
		for (uint64_t k = 0; f && k < 0x2000; k += 64) {
			const char *name;
			uint64_t into;

			if (symfile_find(f, at - 0x1000 + k, &name, &into))
				assert_true(strlen(name) < good.size);
		}
		symfile_free(f);
	}
	free(copy);
	parser_bytes_free(&good);
}

/* From a server, which has another one's file for the wrong build id. */
TEST(by_a_server)
{
	struct parser *p;
	struct symfile *f;
	char path[128], url[64];
	int port = 0, fd;
	FILE *log;

	if (!can_build() || run("python3 -c 'import ctypes; ctypes.CDLL(\"libdebuginfod.so.1\")'")) {
		print_message("# skip: needs gcc, binutils, xz, python3 and libdebuginfod1\n");
		skip();
	}
	make("0xabcdef0123456789");
	assert_int_equal(run("mkdir -p buildid/abcdef0123456789 && objcopy --only-keep-debug program "
			     "buildid/abcdef0123456789/debuginfo && strip program && "
			     "{ exec >log; python3 -u -m http.server --bind 127.0.0.1 0 & echo $! >server; }"), 0);
	snprintf(path, sizeof(path), "%s/log", folder);
	for (int i = 0; i < 3000 && !port; i++) {   /* a name server may be asked who we are */
		usleep(10000);
		log = fopen(path, "re");
		if (log && fscanf(log, "Serving HTTP on 127.0.0.1 port %d", &port) != 1)
			port = 0;
		if (log)
			fclose(log);
	}
	assert_true(port);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
	p = parser_new_all(&(struct parser_opts){ PARSER_APART });
	f = open_program(p);
	assert_string_equal(name_at(f, at), "none");
	snprintf(path, sizeof(path), "%s/program", folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	f = symsource_ask_servers(p, f, fd, "http://127.0.0.1:1");
	assert_string_equal(name_at(f, at), "none");
	f = symsource_ask_servers(p, f, fd, url);
	assert_string_equal(name_at(f, at), "hidden");
	symfile_free(f);
	close(fd);
	parser_free(p);
	run("kill $(cat server)");
}

static int set_up(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	return run("rm -rf %s", folder);
}

AROUND_ALL(set_up, tear_down)

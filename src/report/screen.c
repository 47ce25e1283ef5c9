/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses ncurses. table_print() renders the table into memory, with the same widths, units and cuts
 * as in plain text; its lines are then put on the screen.
 */
#include "report/screen.h"

#include "base/columns.h"
#include "report/screen_rescue.h"

#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>

enum { HEAD = 3, FOOT = 1, MAX_FILTER = 64 };   /* lines around the rows, with the titles */

enum typing { TYPING_NOTHING, TYPING_FILTER };

struct screen {
	const struct screen_opts *opts;
	SCREEN *terminal;
	char *locale;                /* of the program */
	struct table *table;         /* NULL: nothing to show yet */
	char head[256];
	size_t sort;                 /* column */
	bool reversed;               /* opposite to the default order of the column's kind */
	char filter[MAX_FILTER + 1], typed[MAX_FILTER + 1];
	enum typing typing;
	bool paused, help, quit;
};

/* ---- columns ------------------------------------------------------------------------------ */

static bool is_shown(const struct table *t, size_t i)
{
	return i < t->ncolumns && t->columns[i].where != TABLE_ONLY_JSON;
}

/* By default numbers are in descending order, text in ascending order. */
static bool descends(const struct screen *s)
{
	return (s->table->columns[s->sort].kind != TABLE_TEXT) != s->reversed;
}

static void sort(struct screen *s)
{
	struct table *t = s->table;

	if (s->opts->tie)
		table_sort(t, s->opts->tie, false);
	table_sort(t, t->columns[s->sort].name, descends(s));
}

static void sort_by(struct screen *s, size_t column)
{
	if (!s->table || !is_shown(s->table, column))
		return;
	s->sort = column;
	s->reversed = false;
}

/* Sorts by the next column in that direction, wrapping around. */
static void sort_beside(struct screen *s, size_t step)
{
	size_t n = s->table ? s->table->ncolumns : 0, column = s->sort;

	for (size_t i = 0; i < n; i++) {
		column = (column + step) % n;
		if (is_shown(s->table, column)) {
			sort_by(s, column);
			return;
		}
	}
}

static void sort_by_number(struct screen *s, int number)
{
	for (size_t i = 0; s->table && i < s->table->ncolumns; i++)
		if (is_shown(s->table, i) && --number == 0)
			sort_by(s, i);
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* Puts a line, cut off at the screen's edge. Its text was escaped when it was put into the table. */
static void put_line(int y, const char *text, size_t len, attr_t attr)
{
	char line[4096];

	if (y < 0 || y >= LINES)
		return;
	snprintf(line, sizeof(line), "%.*s", (int)(len < sizeof(line) ? len : sizeof(line) - 1), text);
	attrset(attr);
	mvaddnstr(y, 0, line, (int)columns_fit(line, (size_t)COLS));
	for (int x = (int)columns_of(line); attr & A_REVERSE && x < COLS; x++)
		mvaddch(y, x, ' ');
	attrset(A_NORMAL);
}

static void put_text(int y, const char *text, attr_t attr)
{
	put_line(y, text, strlen(text), attr);
}

static struct table_style style_of(const struct screen *s, int lines, int columns)
{
	int rows = lines - HEAD - FOOT - 1;   /* a line for "... N more" */

	return (struct table_style){
		.terminal = { .columns = (unsigned int)(columns > 0 ? columns : 1) },
		.max_rows = (size_t)(rows > 1 ? rows : 1),
		.match = s->filter[0] ? s->filter : NULL,
	};
}

static void put_table(struct screen *s)
{
	struct table_style style = style_of(s, LINES, COLS);
	char *text = NULL, *line, *end;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int y = HEAD - 1;

	if (!out)
		return;
	sort(s);
	table_print(s->table, &style, out);
	fclose(out);
	for (line = text; line && (end = strchr(line, '\n')) && y < LINES - FOOT; line = end + 1, y++)
		put_line(y, line, (size_t)(end - line), y == HEAD - 1 ? A_REVERSE : A_NORMAL);
	free(text);
}

static void put_state(const struct screen *s)
{
	const struct table_column *by = s->table ? &s->table->columns[s->sort] : NULL;
	char text[512];
	int n = 0;

	if (by)
		n = snprintf(text, sizeof(text), "by %.200s, %s", by->title ? by->title : by->name,
			     descends(s) ? "descending" : "ascending");
	else
		n = snprintf(text, sizeof(text), "waiting for the first interval");
	if (s->filter[0])
		n += snprintf(text + n, sizeof(text) - (size_t)n, "   only: %s", s->filter);
	if (s->paused)
		snprintf(text + n, sizeof(text) - (size_t)n, "   PAUSED");
	put_text(1, text, A_NORMAL);
}

static void put_help(void)
{
	static const char *const lines[] = {
		"q           quit",
		"p, space    pause and go on; events are counted all the same",
		"1 ... 9     sort by that column",
		"<, >        sort by the column to the left, to the right",
		"r           reverse the order",
		"/           show only rows with this text; empty: all",
		"h, ?        this help",
	};
	int y = HEAD - 1;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		put_text(y++, lines[i], A_NORMAL);
	put_text(LINES - 1, "any key goes back", A_REVERSE);
}

static void put_foot(const struct screen *s)
{
	char text[MAX_FILTER + 32];

	if (s->typing == TYPING_NOTHING) {
		put_text(LINES - 1, "q quit  p pause  < > 1-9 sort  r reverse  / filter  h help", A_REVERSE);
		return;
	}
	snprintf(text, sizeof(text), "only rows with: %s_", s->typed);
	put_text(LINES - 1, text, A_BOLD);
}

/* ncurses ignores SIGTSTP while it writes to the terminal, so a Ctrl-Z then would be lost. The kernel
 * keeps a blocked signal, also one that is ignored. */
static void write_screen(void)
{
	sigset_t stop, before;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	pthread_sigmask(SIG_BLOCK, &stop, &before);
	refresh();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void draw(struct screen *s)
{
	erase();
	put_text(0, s->head, A_BOLD);
	if (s->help) {
		put_help();
	} else {
		put_state(s);
		if (s->table)
			put_table(s);
		put_foot(s);
	}
	write_screen();
}

void screen_show(struct screen *s, struct table *t, const char *head)
{
	bool first = !s->table;
	int column;

	s->table = t;
	snprintf(s->head, sizeof(s->head), "%s", head);
	column = first ? table_find(t, s->opts->sort) : -1;
	if (column >= 0)
		sort_by(s, (size_t)column);
	draw(s);
}

/* ---- keys --------------------------------------------------------------------------------- */

/* Removes a whole character. */
static void backspace(char *text)
{
	size_t n = strlen(text);

	while (n && ((unsigned char)text[--n] & 0xc0) == 0x80)
		;
	text[n] = '\0';
}

static void type(struct screen *s, int key)
{
	size_t n = strlen(s->typed);

	if (key == '\n' || key == '\r' || key == KEY_ENTER) {
		memcpy(s->filter, s->typed, sizeof(s->filter));
		s->typing = TYPING_NOTHING;
	} else if (key == 27) {
		s->typing = TYPING_NOTHING;
	} else if (key == KEY_BACKSPACE || key == 127 || key == 8) {
		backspace(s->typed);
	} else if (key >= ' ' && key < 256 && n < MAX_FILTER) {
		s->typed[n] = (char)key;
		s->typed[n + 1] = '\0';
	}
}

static void press(struct screen *s, int key)
{
	if (key >= '1' && key <= '9')
		sort_by_number(s, key - '0');
	switch (key) {
	case 'q': case 'Q':
		s->quit = true;
		break;
	case 'p': case 'P': case ' ':
		s->paused = !s->paused;
		break;
	case '<': case ',': case KEY_LEFT:
		sort_beside(s, s->table ? s->table->ncolumns - 1 : 0);
		break;
	case '>': case '.': case KEY_RIGHT:
		sort_beside(s, 1);
		break;
	case 'r': case 'R':
		s->reversed = !s->reversed;
		break;
	case '/':
		s->typing = TYPING_FILTER;
		s->typed[0] = '\0';
		break;
	case 'h': case 'H': case '?':
		s->help = true;
		break;
	case 'L' - '@':   /* Ctrl-L: redraws, which removes other programs' output */
		clearok(curscr, TRUE);
		break;
	default:
		break;
	}
}

bool screen_poll(struct screen *s)
{
	bool changed = false;
	int key;

	while (!s->quit && (key = getch()) != ERR) {
		changed = true;
		if (key == KEY_RESIZE)
			continue;
		if (s->help)
			s->help = false;
		else if (s->typing != TYPING_NOTHING)
			type(s, key);
		else
			press(s, key);
	}
	if (changed && !s->quit)
		draw(s);
	return s->quit;
}

bool screen_is_paused(const struct screen *s)
{
	return s->paused;
}

/* ---- begin and end ------------------------------------------------------------------------ */

bool screen_is_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
}

/* Uses UTF-8 for widths and "…", as in plain text, whatever LANG is. */
static char *use_utf8(void)
{
	char *before = strdup(setlocale(LC_CTYPE, NULL));

	setlocale(LC_CTYPE, "C.UTF-8");
	return before;
}

static void set_modes(void)
{
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	set_escdelay(25);
	nodelay(stdscr, TRUE);
}

struct screen *screen_open(const struct screen_opts *opts)
{
	struct screen *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->opts = opts;
	s->locale = use_utf8();
	fflush(stdout);
	if (!screen_rescue_begin())
		s->terminal = newterm(NULL, stdout, stdin);
	if (!s->terminal) {
		screen_close(s);
		return NULL;
	}
	set_modes();
	draw(s);
	return s;
}

/* Prints the last table on the normal screen. */
static void leave_table(struct screen *s)
{
	struct terminal terminal = terminal_of(stdout);
	struct table_style style = style_of(s, (int)terminal.rows, (int)terminal.columns);

	style.terminal.colour = terminal.colour;
	sort(s);
	printf("%s\n", s->head);
	table_print(s->table, &style, stdout);
}

void screen_close(struct screen *s)
{
	if (!s)
		return;
	if (s->terminal) {
		endwin();
		delscreen(s->terminal);
	}
	screen_rescue_end();
	if (s->locale)
		setlocale(LC_CTYPE, s->locale);
	free(s->locale);
	if (s->terminal && s->table)
		leave_table(s);
	free(s);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as numbers. */
#include "checks.h"

#include "table/words.h"

TEST(more_than_there_is_room_for)
{
	struct words w = { 0 };
	char text[32];

	for (int i = 0; i < WORDS_MOST; i++) {
		snprintf(text, sizeof(text), "futex 0x%x", i);
		assert_int_equal(words_number(&w, text), i + 1);
	}
	assert_false(w.full);
	assert_string_equal(words_text(&w, 1), "futex 0x0");
	assert_int_equal(words_number(&w, "one more"), WORDS_OTHERS);
	assert_true(w.full);
	assert_string_equal(words_text(&w, WORDS_OTHERS), "[others]");
	words_free(&w);
	assert_false(w.full);
	assert_string_equal(words_text(&w, words_number(&w, "one more")), "one more");
	words_free(&w);
}

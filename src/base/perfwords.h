/* SPDX-License-Identifier: Apache-2.0 */
/* What users of perf, or of another command here, type by habit, and perf-prof calls otherwise: it is accepted, or the message that
 * refuses it says what to use. */
#ifndef BASE_PERFWORDS_H
#define BASE_PERFWORDS_H

/* The option here, such as "--than" for --percent-limit; "": it is accepted, and not needed. NULL: perfwords_option(). */
const char *perfwords_own(const char *command, const char *option);
/* What to use instead, such as "here it is --than PERCENT"; NULL: perf does not have that option (with its dashes) either, or
 * it means something else there. */
const char *perfwords_option(const char *command, const char *option);
/* The same for a command of perf. */
const char *perfwords_command(const char *command);
/* What is meant by a first operand that is a word of perf there, such as "record" of `stat record`; NULL: it is none. */
const char *perfwords_operand(const char *command, const char *word);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What users of perf type by habit, and perf-prof calls otherwise, for the messages that refuse it. */
#ifndef BASE_PERFWORDS_H
#define BASE_PERFWORDS_H

/* What to use instead, such as "here it is --than PERCENT"; NULL: perf does not have that option (with its dashes) either, or
 * it means something else there. */
const char *perfwords_option(const char *command, const char *option);
/* The same for a command of perf. */
const char *perfwords_command(const char *command);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of questions for a parser (jail/parser.h): one row per kind. */
#ifndef SYMBOLS_PARSER_KINDS_H
#define SYMBOLS_PARSER_KINDS_H

#include "symbols/jail/parser.h"

/* parser_new() for all kinds of questions. */
struct parser *parser_new_all(const struct parser_opts *opts);
#endif

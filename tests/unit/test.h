/* cmocka with the headers it wants before it. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define assert_str_equal(a, b) assert_true(str_eq((a), (b)))

#endif

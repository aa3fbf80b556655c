#include "test.h"

#include "http/static_files.h"

#include <stdlib.h>
#include <zlib.h>

static bool is_text(const struct static_file *file)
{
    return str_starts(file->type, STR("text/")) || str_starts(file->type, STR("application/json"));
}

static void test_found_by_path(void **state)
{
    (void)state;
    const struct static_file *docs = static_file_find(STR("/docs"));
    assert_non_null(docs);
    assert_str_equal(docs->type, STR("text/html; charset=utf-8"));
    assert_true(str_starts(docs->plain, STR("<!doctype html>")));
    assert_false(docs->immutable);
    assert_non_null(static_file_find(STR("/openapi.json")));
    assert_null(static_file_find(STR("/docs/")));
    assert_null(static_file_find(STR("/static/package.json")));
    for (size_t i = 0; i < static_files_count; i++)
        assert_ptr_equal(static_file_find(static_files[i].path), &static_files[i]);
}

static void test_gzip_holds_the_same_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < static_files_count; i++) {
        const struct static_file *file = &static_files[i];
        if (!file->gzip.len)
            continue;
        assert_true(file->gzip.len < file->plain.len);
        char *unpacked = malloc(file->plain.len);
        assert_non_null(unpacked);
        z_stream stream = {
            .next_in = (Bytef *)(uintptr_t)file->gzip.ptr,
            .avail_in = (uInt)file->gzip.len,
            .next_out = (Bytef *)unpacked,
            .avail_out = (uInt)file->plain.len,
        };
        assert_int_equal(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
        assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
        inflateEnd(&stream);
        assert_str_equal(str_make(unpacked, stream.total_out), file->plain);
        free(unpacked);
    }
}

/* Whatever a page refers to is here, under an address that may be cached for ever. */
static void test_references_lead_to_immutable_files(void **state)
{
    (void)state;
    size_t references = 0;
    for (size_t i = 0; i < static_files_count; i++) {
        struct str rest = static_files[i].plain;
        if (!is_text(&static_files[i]) || str_starts(static_files[i].path, STR("/static/vendor/swagger")))
            continue;
        struct str start = STR("\"/static/");
        for (; rest.len > start.len; rest = str_from_offset(rest, 1)) {
            if (!str_starts(rest, start))
                continue;
            struct str path = str_from_offset(rest, 1);
            path = str_first(path, (size_t)str_find_char(path, '"'));
            const struct static_file *target = static_file_find(path);
            assert_non_null(target);
            assert_true(target->immutable);
            references++;
        }
    }
    assert_true(references >= 4);
}

/* Our own pages and scripts: a browser is never sent elsewhere. */
static void test_nothing_comes_from_outside(void **state)
{
    (void)state;
    for (size_t i = 0; i < static_files_count; i++) {
        if (str_starts(static_files[i].path, STR("/static/vendor/")))
            continue;
        assert_false(str_contains(static_files[i].plain, STR("src=\"http")));
        assert_false(str_contains(static_files[i].plain, STR("src=\"//")));
        assert_false(str_contains(static_files[i].plain, STR("href=\"http")));
        assert_false(str_contains(static_files[i].plain, STR("from \"http")));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_by_path),
        cmocka_unit_test(test_gzip_holds_the_same_bytes),
        cmocka_unit_test(test_references_lead_to_immutable_files),
        cmocka_unit_test(test_nothing_comes_from_outside),
    };
    return cmocka_run_group_tests_name("static files", tests, NULL, NULL);
}

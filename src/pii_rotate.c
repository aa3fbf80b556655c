#include "pii_rotate.h"

#include "base/clock.h"
#include "task/task.h"

#include <assert.h>

enum {
    PAGE_ROWS = 500,
    ROWS_PER_WRITE = 100, /* short, so that a server beside waits for milliseconds at most */
    PASSES_MAX = 10,
    PATIENCE_MS = 30000,
    FIRST_REST_MS = 10,
    PAGE_MEMORY = 64 << 20,
    PLACE_BYTES = 1024,
};

struct row {
    struct db_value keys[PII_ROW_KEYS_MAX];
    struct str found[PII_COLUMNS_MAX], sealed[PII_COLUMNS_MAX];
    bool changed;
};

struct page {
    struct pii_rotation *rotation;
    struct arena arena;
    struct statement select, update, count;
    size_t columns, keys;
    struct db_value after[PII_ROW_KEYS_MAX]; /* the last row of the page before … */
    char place[PLACE_BYTES];                 /* … and the bytes of its texts */
    struct row *rows;
    size_t row_count;
    struct row *first; /* of those to be written now */
    size_t write_count;
    int64_t written;
};

static void count_columns(struct page *page)
{
    const struct pii_table *table = page->rotation->table;
    while (page->columns < PII_COLUMNS_MAX && table->columns[page->columns])
        page->columns++;
    while (page->keys < PII_ROW_KEYS_MAX && table->row[page->keys].name)
        page->keys++;
}

/* "a, b" */
static void add_keys(struct buf *sql, const struct page *page)
{
    for (size_t i = 0; i < page->keys; i++)
        buf_add_format(sql, "%s%s", i ? ", " : "", page->rotation->table->row[i].name);
}

static const char *select_text(const struct page *page, struct arena *arena)
{
    const struct pii_table *table = page->rotation->table;
    struct buf sql = BUF_INIT(1024);
    buf_add(&sql, STR("SELECT "));
    add_keys(&sql, page);
    for (size_t i = 0; i < page->columns; i++)
        buf_add_format(&sql, ", %s", table->columns[i]);
    buf_add_format(&sql, " FROM %s WHERE (", table->table);
    add_keys(&sql, page);
    buf_add(&sql, page->keys == 1 ? STR(") > ($1) ORDER BY ") : STR(") > ($1, $2) ORDER BY "));
    add_keys(&sql, page);
    buf_add_format(&sql, " LIMIT %d", PAGE_ROWS);
    const char *text = arena_c_string(arena, buf_str(&sql));
    buf_free(&sql);
    return text;
}

/* Parameters: the keys, the new values, the values that were found. */
static const char *update_text(const struct page *page, struct arena *arena)
{
    const struct pii_table *table = page->rotation->table;
    struct buf sql = BUF_INIT(1024);
    buf_add_format(&sql, "UPDATE %s SET ", table->table);
    for (size_t i = 0; i < page->columns; i++)
        buf_add_format(&sql, "%s%s = $%zu", i ? ", " : "", table->columns[i], page->keys + 1 + i);
    for (size_t i = 0; i < page->keys; i++)
        buf_add_format(&sql, " %s %s = $%zu", i ? "AND" : "WHERE", table->row[i].name, i + 1);
    for (size_t i = 0; i < page->columns; i++)
        buf_add_format(&sql, " AND %s IS NOT DISTINCT FROM $%zu", table->columns[i],
                       page->keys + page->columns + 1 + i);
    const char *text = arena_c_string(arena, buf_str(&sql));
    buf_free(&sql);
    return text;
}

static void page_go_to_start(struct page *page)
{
    for (size_t i = 0; i < page->keys; i++)
        page->after[i] = page->rotation->table->row[i].is_number ? DB_INT(INT64_MIN) : DB_TEXT(STR(""));
}

/* A page of rows, copied into its arena, which is used again for the next one. */
static bool read_page(struct tx *tx, void *argument)
{
    struct page *page = argument;
    const struct pii_table *table = page->rotation->table;
    page->row_count = 0;
    struct rows *rows = tx_query(tx, &page->select, page->after, page->keys);
    while (page->row_count < PAGE_ROWS && rows_next(rows)) {
        struct row *row = &page->rows[page->row_count++];
        *row = (struct row){0};
        for (size_t i = 0; i < page->keys; i++) {
            const char *name = table->row[i].name;
            row->keys[i] = table->row[i].is_number ? DB_INT(row_int(rows, name))
                                                   : DB_TEXT(arena_copy(&page->arena, row_text(rows, name)));
        }
        for (size_t i = 0; i < page->columns; i++) {
            struct str value = row_text(rows, table->columns[i]);
            row->found[i] = row->sealed[i] = value.ptr ? arena_copy(&page->arena, value) : value;
        }
    }
    return !tx_failed(tx);
}

static bool read_count(struct tx *tx, void *argument)
{
    struct page *page = argument;
    struct rows *rows = tx_query(tx, &page->count, DB_NO_PARAMS);
    page->rotation->rows_expected = rows_next(rows) ? row_int(rows, "rows") : 0;
    return !tx_failed(tx);
}

static bool write_rows(struct tx *tx, void *argument)
{
    struct page *page = argument;
    page->written = 0;
    for (size_t i = 0; i < page->write_count; i++) {
        const struct row *row = &page->first[i];
        struct db_value values[PII_ROW_KEYS_MAX + 2 * PII_COLUMNS_MAX];
        size_t count = 0;
        if (!row->changed)
            continue;
        for (size_t key = 0; key < page->keys; key++)
            values[count++] = row->keys[key];
        for (size_t column = 0; column < page->columns; column++)
            values[count++] = DB_TEXT(row->sealed[column]);
        for (size_t column = 0; column < page->columns; column++)
            values[count++] = DB_TEXT(row->found[column]);
        tx_exec(tx, &page->update, values, count);
        page->written += tx_changes(tx);
    }
    return !tx_failed(tx);
}

/* While somebody is in the way it rests, longer each time, up to a limit. */
static bool patiently(enum db_outcome (*run)(struct db *db, db_unit *unit, struct page *page), db_unit *unit,
                      struct page *page)
{
    int64_t rest = FIRST_REST_MS;
    for (int64_t until = clock_mono_ns() + PATIENCE_MS * NS_PER_MS; clock_mono_ns() < until; rest *= 2) {
        switch (run(page->rotation->db, unit, page)) {
        case DB_OK: return true;
        case DB_ERROR:
        case DB_CONSTRAINT:
        case DB_ROLLED_BACK: return false;
        case DB_BUSY:
        case DB_DEADLINE:
        case DB_UNAVAILABLE:
        case DB_UNCERTAIN: task_sleep(rest); break; /* writing twice changes nothing the second time */
        }
    }
    return false;
}

static enum db_outcome run_read(struct db *db, db_unit *unit, struct page *page)
{
    return db_read(db, unit, page);
}

static enum db_outcome run_write(struct db *db, db_unit *unit, struct page *page)
{
    return db_write(db, unit, page, NULL);
}

static void census_add(struct census *census, uint32_t key)
{
    size_t i = 0;
    while (i < census->keys && census->by_key[i].key != key)
        i++;
    if (i == CENSUS_KEYS_MAX)
        return; /* damaged numbers; they are counted as unreadable */
    if (i == census->keys)
        census->by_key[census->keys++].key = key;
    census->by_key[i].values++;
}

/* "12/somebody" */
static struct str row_id(const struct page *page, const struct row *row, struct arena *arena)
{
    struct str id = STR("");
    for (size_t i = 0; i < page->keys; i++) {
        const struct db_value *key = &row->keys[i];
        struct str part = key->type == DB_TYPE_INT ? arena_format(arena, "%lld", (long long)key->number) : key->text;
        id = i ? arena_format(arena, "%.*s/%.*s", STR_ARG(id), STR_ARG(part)) : part;
    }
    return id;
}

/* Seals the values of a row that need it; counts them all. */
static void seal_row(struct page *page, struct row *row)
{
    struct pii_rotation *rotation = page->rotation;
    const struct pii_table *table = rotation->table;
    struct str id = row_id(page, row, &page->arena);
    for (size_t i = 0; i < page->columns; i++) {
        struct str found = row->found[i], plain = found;
        if (found.len == 0)
            continue;
        uint32_t key = pii_key_of(found);
        census_add(&rotation->after[i], key);
        struct pii_place place = {.table = table->table, .column = table->columns[i], .row = id};
        if (key == 0 ? !table->was_plain : !pii_decrypt(rotation->pii, &page->arena, place, found, &plain)) {
            rotation->after[i].unreadable++;
            continue;
        }
        if (key == pii_first_key(rotation->pii))
            continue;
        row->sealed[i] = pii_encrypt(rotation->pii, &page->arena, place, plain);
        row->changed = true;
    }
}

/* Writes the page's rows in short transactions, and leaves the database to others as long as each took. */
static bool write_page(struct page *page, int64_t *changed)
{
    for (size_t at = 0; at < page->row_count; at += ROWS_PER_WRITE) {
        size_t left = page->row_count - at, needed = 0;
        page->first = &page->rows[at];
        page->write_count = left < ROWS_PER_WRITE ? left : ROWS_PER_WRITE;
        for (size_t i = 0; i < page->write_count; i++)
            needed += page->first[i].changed;
        if (needed == 0)
            continue;
        int64_t began = clock_mono_ns();
        if (!patiently(run_write, write_rows, page))
            return false;
        page->rotation->written += page->written;
        *changed += (int64_t)needed;
        task_sleep((clock_mono_ns() - began) / NS_PER_MS + 1);
    }
    return true;
}

/* The place after this page; the bytes outlive its arena. */
static void page_go_on(struct page *page)
{
    char *place = page->place;
    size_t room = sizeof(page->place);
    const struct row *last = &page->rows[page->row_count - 1];
    for (size_t i = 0; i < page->keys; i++) {
        page->after[i] = last->keys[i];
        if (last->keys[i].type != DB_TYPE_TEXT)
            continue;
        size_t length = last->keys[i].text.len;
        assert(length <= room); /* ids are short */
        memcpy(place, last->keys[i].text.ptr, length);
        page->after[i].text = str_make(place, length);
        place += length;
        room -= length;
    }
}

/* Once through the table. `changed`: rows that needed sealing, whether they could be written or not. */
static bool run_pass(struct page *page, int64_t *changed)
{
    struct pii_rotation *rotation = page->rotation;
    rotation->rows = *changed = 0;
    memset(rotation->after, 0, sizeof(rotation->after));
    page_go_to_start(page);
    if (!patiently(run_read, read_count, page))
        return false;
    do {
        arena_reset(&page->arena);
        if (!patiently(run_read, read_page, page))
            return false;
        for (size_t i = 0; i < page->row_count; i++)
            seal_row(page, &page->rows[i]);
        if (!write_page(page, changed))
            return false;
        rotation->rows += (int64_t)page->row_count;
        if (rotation->progress)
            rotation->progress(rotation);
        if (page->row_count)
            page_go_on(page);
    } while (page->row_count == PAGE_ROWS);
    return true;
}

static enum pii_rotate_outcome run_passes(struct page *page)
{
    struct pii_rotation *rotation = page->rotation;
    for (rotation->pass = 1; rotation->pass <= PASSES_MAX; rotation->pass++) {
        int64_t changed;
        if (!run_pass(page, &changed))
            return PII_NO_DATABASE;
        if (rotation->pass == 1)
            memcpy(rotation->before, rotation->after, sizeof(rotation->before));
        if (changed == 0)
            return PII_ROTATED;
    }
    return PII_UNSETTLED;
}

enum pii_rotate_outcome pii_rotate(struct pii_rotation *rotation)
{
    struct arena arena; /* of this run; the page's own is used again for every page */
    arena_init(&arena, 1 << 20);
    struct page page = {.rotation = rotation};
    arena_init(&page.arena, PAGE_MEMORY);
    count_columns(&page);
    page.rows = ARENA_NEW_ARRAY(&arena, struct row, PAGE_ROWS);
    page.select.sql = select_text(&page, &arena);
    page.update.sql = update_text(&page, &arena);
    page.count.sql = arena_format(&arena, "SELECT count(*) AS rows FROM %s", rotation->table->table).ptr;
    rotation->written = 0;
    enum pii_rotate_outcome outcome = run_passes(&page);
    arena_free(&page.arena);
    arena_free(&arena);
    return outcome;
}

#include "services/ticket/edition.h"

#include "services/ticket/seats_json.h"

#include <stdlib.h>

enum {
    BLOCK_SEATS = 512, /* a multiple of the 64 in a word */
    BLOCK_WORDS = BLOCK_SEATS / 64,
    BLOCK_TEXT_MAX = BLOCK_SEATS * 128,
};

struct edition_block {
    atomic_size_t references;
    struct gzip_sum sum; /* of the plain text */
    size_t length;
    char bytes[];
};

static atomic_size_t bytes_of_all;

size_t edition_bytes(void)
{
    return atomic_load_explicit(&bytes_of_all, memory_order_relaxed);
}

static void block_release(struct edition_block *block)
{
    if (!block || atomic_fetch_sub_explicit(&block->references, 1, memory_order_acq_rel) != 1)
        return;
    atomic_fetch_sub_explicit(&bytes_of_all, sizeof(*block) + block->length, memory_order_relaxed);
    free(block);
}

static struct edition_block *block_of(struct str bytes, struct gzip_sum sum)
{
    struct edition_block *block = malloc(sizeof(*block) + bytes.len);
    if (!block)
        return NULL;
    block->references = 1;
    block->sum = sum;
    block->length = bytes.len;
    memcpy(block->bytes, bytes.ptr, bytes.len);
    atomic_fetch_add_explicit(&bytes_of_all, sizeof(*block) + bytes.len, memory_order_relaxed);
    return block;
}

struct workbench {
    struct buf text, packed; /* used again from block to block */
    enum edition_form form;
};

static struct edition_block *block_make(struct workbench *bench, const uint64_t *words, int64_t seats, size_t index)
{
    int64_t first = (int64_t)index * BLOCK_SEATS + 1, last = first + BLOCK_SEATS - 1;
    buf_clear(&bench->text);
    buf_clear(&bench->packed);
    struct json_writer json = json_write_to(&bench->text);
    seats_json_part(&json, words, seats, first, last < seats ? last : seats);
    struct str text = buf_str(&bench->text);
    if (bench->text.failed)
        return NULL;
    if (bench->form == EDITION_PLAIN)
        return block_of(text, (struct gzip_sum){0});
    return gzip_part(&bench->packed, text) ? block_of(buf_str(&bench->packed), gzip_sum_of(text)) : NULL;
}

static size_t word_count(int64_t seats)
{
    return (size_t)(seats + 63) / 64;
}

static bool is_unchanged(const struct edition *edition, const struct edition *before, size_t index)
{
    if (!before || before->state.seats != edition->state.seats)
        return false;
    size_t first = index * BLOCK_WORDS, left = word_count(edition->state.seats) - first;
    size_t count = left < BLOCK_WORDS ? left : BLOCK_WORDS;
    return memcmp(edition->words + first, before->words + first, count * sizeof(uint64_t)) == 0;
}

static bool fill(struct edition *edition, enum edition_form form, const struct edition *before)
{
    struct workbench bench = {BUF_INIT(BLOCK_TEXT_MAX), BUF_INIT(BLOCK_TEXT_MAX), form};
    struct shared_body *body = &edition->body;
    bool done = true;
    for (size_t i = 0; done && i < body->count; i++) {
        struct edition_block *block;
        if (is_unchanged(edition, before, i)) {
            block = before->blocks[i];
            atomic_fetch_add_explicit(&block->references, 1, memory_order_relaxed);
        } else {
            block = block_make(&bench, edition->words, edition->state.seats, i);
        }
        edition->blocks[i] = block;
        done = block != NULL;
        if (!done)
            break;
        edition->pieces[i] = str_make(block->bytes, block->length);
        body->length += block->length;
        if (form == EDITION_GZIP)
            edition->sum = gzip_sum_join(edition->sum, block->sum);
    }
    buf_free(&bench.text);
    buf_free(&bench.packed);
    return done;
}

static void destroy(struct shared_body *body)
{
    struct edition *edition = (struct edition *)body;
    for (size_t i = 0; edition->blocks && i < body->count; i++)
        block_release(edition->blocks[i]);
    free(edition->blocks);
    free(edition->pieces);
    free(edition->words);
    free(edition);
}

struct edition *edition_make(struct house *house, enum edition_form form, const struct edition *before)
{
    struct edition *edition = calloc(1, sizeof(*edition));
    if (!edition)
        return NULL;
    edition->body.references = 1;
    edition->body.destroy = destroy;
    edition->words = seats_json_copy_free(house, &edition->state);
    size_t count = (size_t)(edition->state.seats + BLOCK_SEATS - 1) / BLOCK_SEATS;
    edition->blocks = calloc(count + 1, sizeof(*edition->blocks)); /* a house may have no seats */
    edition->pieces = calloc(count + 1, sizeof(*edition->pieces));
    if (edition->words && edition->blocks && edition->pieces) {
        edition->body.count = count;
        edition->body.pieces = edition->pieces;
        if (fill(edition, form, before))
            return edition;
    }
    edition_release(edition);
    return NULL;
}

void edition_release(struct edition *edition)
{
    if (edition)
        shared_body_release(&edition->body);
}

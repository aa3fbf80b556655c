/*
 * Makes editions (ticket/edition.h) for those who read houses. All who come while an edition is being made, or who need
 * a newer one, wait for the same next one. Large houses are rendered on a thread of the renderer's own, which gives way
 * to the loops and rests between editions, so that a sale goes on however many read; small ones at once. The edition of
 * a house that nobody has read for a while is dropped, and its memory given back to the system.
 *
 * One renderer per server, owned by ticket.c; one rendering per house and form, owned by the office.
 */
#ifndef TICKET_RENDERER_H
#define TICKET_RENDERER_H

#include "services/ticket/edition.h"

struct renderer;
struct rendering;

/* `max_bytes`: of all editions together, also those that only slow readers still hold. NULL when there is no memory or
 * no thread. */
struct renderer *renderer_create(size_t max_bytes);
/* When nobody reads any more: ends the thread. Then the renderings are closed, then the renderer is destroyed. */
void renderer_stop(struct renderer *renderer);
void renderer_destroy(struct renderer *renderer);

struct rendering *rendering_open(struct renderer *renderer, struct house *house, enum edition_form form);
/* One that has never been read, or after renderer_stop; NULL is fine. */
void rendering_close(struct rendering *rendering);

/* From a task: an edition that shows all that had happened when this was called, or more. The caller releases it. NULL
 * when the task's deadline passes first, or there is no memory for it. */
struct edition *rendering_read(struct rendering *rendering);

#endif

/*
 * The files compiled into the binary: pages, scripts, npm packages, the OpenAPI
 * document. tools/embed_web.py makes the table from web/ and says which address a
 * file gets. Everything here lives for ever and is read-only.
 */
#ifndef HTTP_STATIC_FILES_H
#define HTTP_STATIC_FILES_H

#include "base/str.h"

struct static_file {
    struct str path; /* "/static/docs/docs.js", "/docs" */
    struct str type; /* Content-Type */
    struct str etag; /* with its quotes; of the plain bytes */
    struct str etag_gzip;
    struct str plain;
    struct str gzip; /* the same compressed; empty where that would not help */
    bool immutable;  /* the path has a hash in it: may be cached for ever */
};

/* Sorted by path. */
extern const struct static_file static_files[];
extern const size_t static_files_count;

/* NULL when there is none at this path. */
const struct static_file *static_file_find(struct str path);

#endif

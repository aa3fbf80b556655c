#include "services/system/pages.h"

#include "http/static_files.h"
#include "services/app.h"
#include "tables/config.h"

/* Pages load scripts, styles and data from this server only, and nobody frames them. */
#define CSP_STRICT "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
/* Swagger UI sets styles from its script and draws its icons from data: addresses. */
#define CSP_SWAGGER CSP_STRICT "; style-src 'self' 'unsafe-inline'; img-src 'self' data:"

static void add_page_headers(struct request *rq)
{
    bool swagger = str_eq(rq->head.path, STR("/docs"));
    reply_header(rq, STR("Content-Security-Policy"), swagger ? STR(CSP_SWAGGER) : STR(CSP_STRICT));
    reply_header(rq, STR("X-Frame-Options"), STR("DENY"));
    reply_header(rq, STR("Referrer-Policy"), STR("same-origin"));
    reply_header(rq, STR("Cross-Origin-Opener-Policy"), STR("same-origin"));
}

void get_page(struct request *rq)
{
    const struct static_file *file = static_file_find(rq->head.path);
    if (!file) {
        reply_error(rq, ERR_NOT_FOUND);
        return;
    }
    bool packed = file->gzip.len && request_accepts_gzip(rq);
    reply_header(rq, STR("X-Content-Type-Options"), STR("nosniff"));
    reply_header(rq, STR("Cache-Control"),
                 file->immutable ? STR("public, max-age=31536000, immutable") : STR("no-cache"));
    if (file->gzip.len)
        reply_header(rq, STR("Vary"), STR("Accept-Encoding"));
    if (str_starts(file->type, STR("text/html")))
        add_page_headers(rq);
    struct str etag = packed ? file->etag_gzip : file->etag;
    if (reply_not_modified(rq, etag))
        return;
    reply_header(rq, STR("ETag"), etag);
    if (packed)
        reply_header(rq, STR("Content-Encoding"), STR("gzip"));
    reply_fixed(rq, 200, file->type, packed ? file->gzip : file->plain);
}

void get_signin_options(struct request *rq)
{
    struct str client_id = app_of(rq)->settings->google_client_id;
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_string_or_null(&json, "googleClientId", client_id.len ? client_id : (struct str){NULL, 0});
    json_end_object(&json);
    reply_header(rq, STR("Cache-Control"), STR("no-cache"));
    reply_json(rq, 200);
}

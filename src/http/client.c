#include "http/client.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "http/chars.h"
#include "http/client_loop.h"
#include "task/task.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

enum { ANSWER_HEAD_MAX = 64 * 1024, TRACE_LENGTH = 32 };

/* What the client keeps for a loop; only the loop's thread touches it. */
struct local {
    struct local *next;
    struct loop *loop;
    struct client_loop *curl;
    struct buf last_answer; /* see answer_give */
};

struct http_client {
    struct http_client_options options;
    pthread_mutex_t mutex; /* for the list */
    struct local *locals;  /* as many as there are loops that have called */
};

/* A request in libcurl's shape. It lives in the arena. */
struct outgoing {
    const char *url;
    struct curl_slist *headers;
};

/* An answer as it comes in. libcurl delivers it on the loop's own stack; so it never goes straight into the arena,
 * which jumps out of the task when it is exhausted. */
struct incoming {
    struct buf bytes; /* the head's lines, then the body */
    size_t head_length;
    size_t max_body;
    bool head_complete;
    bool too_large;
    long status;
};

/* ---- the client ---- */

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static bool curl_started;

static void start_curl(void)
{
    curl_started = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

static bool copy_text(const char **text)
{
    return !*text || (*text = strdup(*text));
}

struct http_client *http_client_create(const struct http_client_options *options)
{
    pthread_once(&curl_once, start_curl);
    struct http_client *client = calloc(1, sizeof(*client));
    if (!client || !curl_started) {
        free(client);
        return NULL;
    }
    struct http_client_options *own = &client->options;
    *own = *options;
    own->max_calls = own->max_calls ? own->max_calls : 1000;
    own->max_connections = own->max_connections ? own->max_connections : 256;
    own->max_connections_per_host = own->max_connections_per_host ? own->max_connections_per_host : 32;
    own->timeout_ms = own->timeout_ms ? own->timeout_ms : 10 * MS_PER_S;
    own->connect_timeout_ms = own->connect_timeout_ms ? own->connect_timeout_ms : 5 * MS_PER_S;
    pthread_mutex_init(&client->mutex, NULL);
    bool copied = copy_text(&own->ca_file);
    if (!copy_text(&own->proxy) || !copied) {
        http_client_free(client);
        return NULL;
    }
    return client;
}

void http_client_free(struct http_client *client)
{
    assert(!client->locals);
    pthread_mutex_destroy(&client->mutex);
    free((char *)client->options.ca_file);
    free((char *)client->options.proxy);
    free(client);
}

static struct local *local_create(const struct http_client_options *options)
{
    struct local *local = calloc(1, sizeof(*local));
    struct client_loop_limits limits = {.transfers = options->max_calls,
                                        .connections = options->max_connections,
                                        .connections_per_host = options->max_connections_per_host};
    if (!local || !(local->curl = client_loop_create(&limits))) {
        free(local);
        return NULL;
    }
    local->loop = loop_current();
    return local;
}

/* The place of the current loop's entry in the list, or the list's end. The caller has the mutex. */
static struct local **local_place(struct http_client *client)
{
    struct local **place = &client->locals;
    while (*place && (*place)->loop != loop_current())
        place = &(*place)->next;
    return place;
}

static struct local *local_get(struct http_client *client)
{
    pthread_mutex_lock(&client->mutex);
    struct local **place = local_place(client);
    if (!*place)
        *place = local_create(&client->options);
    struct local *local = *place;
    pthread_mutex_unlock(&client->mutex);
    return local;
}

void http_client_close_loop(struct http_client *client)
{
    pthread_mutex_lock(&client->mutex);
    struct local **place = local_place(client);
    struct local *local = *place;
    if (local)
        *place = local->next;
    pthread_mutex_unlock(&client->mutex);
    if (!local)
        return;
    client_loop_close(local->curl);
    buf_free(&local->last_answer);
    free(local);
}

/* ---- the request ---- */

static struct str find_header(const struct http_header *headers, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_ieq(headers[i].name, name))
            return headers[i].value;
    return (struct str){NULL, 0};
}

static bool header_is_plain(const struct http_header *header)
{
    for (size_t i = 0; i < header->name.len; i++)
        if (!http_char_is(header->name.ptr[i], CHAR_TOKEN))
            return false;
    for (size_t i = 0; i < header->value.len; i++) {
        char c = header->value.ptr[i];
        if (c == '\r' || c == '\n' || c == '\0')
            return false;
    }
    return header->name.len > 0;
}

static void add_line(struct outgoing *outgoing, struct arena *arena, struct str line)
{
    struct curl_slist *item = ARENA_NEW(arena, struct curl_slist);
    item->data = (char *)arena_c_string(arena, line);
    item->next = outgoing->headers;
    outgoing->headers = item;
}

static void add_trace(struct outgoing *outgoing, struct arena *arena)
{
    struct str trace = log_trace();
    bool some = false; /* all zeros mean none */
    for (size_t i = 0; i < trace.len; i++) {
        char c = trace.ptr[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
            return;
        some |= c != '0';
    }
    if (trace.len == TRACE_LENGTH && some)
        add_line(outgoing, arena,
                 arena_format(arena, "traceparent: 00-%.*s-%016" PRIx64 "-01", STR_ARG(trace), random_fast() | 1));
}

static bool url_begins(struct str url, struct str scheme)
{
    return str_ieq(str_first(url, scheme.len), scheme);
}

/* False when the caller gives what would not arrive as it was meant. */
static bool outgoing_prepare(struct outgoing *outgoing, const struct http_call *call, struct arena *arena)
{
    *outgoing = (struct outgoing){0};
    bool scheme_is_known = url_begins(call->url, STR("http://")) || url_begins(call->url, STR("https://"));
    if (!scheme_is_known || str_find_char(call->url, '\0') >= 0)
        return false;
    outgoing->url = arena_c_string(arena, call->url);
    add_line(outgoing, arena, STR("Expect:")); /* do not wait for a 100 */
    if (!find_header(call->headers, call->header_count, STR("Content-Type")).ptr)
        add_line(outgoing, arena, STR("Content-Type:")); /* libcurl would say it is a form */
    if (!find_header(call->headers, call->header_count, STR("traceparent")).ptr)
        add_trace(outgoing, arena);
    for (size_t i = call->header_count; i-- > 0;) { /* from the last, since each goes to the front */
        const struct http_header *header = &call->headers[i];
        if (!header_is_plain(header))
            return false;
        /* "Name;" is libcurl's way of sending an empty header, "Name:" that of leaving one out. */
        add_line(outgoing, arena,
                 header->value.len ? arena_format(arena, "%.*s: %.*s", STR_ARG(header->name), STR_ARG(header->value))
                                   : arena_format(arena, "%.*s;", STR_ARG(header->name)));
    }
    return true;
}

/* Every option matters for safety or for the meaning of the request, so that none may fail unnoticed. */
#define SET(option, value) (all_set = all_set && curl_easy_setopt(easy, (option), (value)) == CURLE_OK)

static bool set_policy(CURL *easy, const struct http_client_options *options, const struct http_call *call)
{
    bool all_set = true;
    bool secure = url_begins(call->url, STR("https://"));
    bool safe = call->method == HTTP_GET || call->method == HTTP_HEAD;
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_QUICK_EXIT, 1L); /* a deadline must not wait for the thread that looks up the name */
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
    SET(CURLOPT_FOLLOWLOCATION, safe && call->max_redirects ? 1L : 0L);
    SET(CURLOPT_MAXREDIRS, (long)call->max_redirects);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)options->connect_timeout_ms);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET(CURLOPT_CAPATH, NULL); /* with a folder, libcurl would read all certificates anew for each connection */
    if (options->ca_file)
        SET(CURLOPT_CAINFO, options->ca_file);
    SET(CURLOPT_PROXY, options->proxy ? options->proxy : ""); /* empty: not the environment's either */
    SET(CURLOPT_NOPROXY, "");
    return all_set;
}

static bool set_request(CURL *easy, const struct http_call *call, const struct outgoing *outgoing)
{
    bool all_set = true;
    enum http_method method = call->method;
    bool has_body = method == HTTP_POST || method == HTTP_PUT || method == HTTP_PATCH || call->body.len;
    SET(CURLOPT_URL, outgoing->url);
    SET(CURLOPT_HTTPHEADER, outgoing->headers);
    if (method == HTTP_HEAD)
        SET(CURLOPT_NOBODY, 1L);
    else if (has_body) {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_POSTFIELDS, call->body.len ? call->body.ptr : "");
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
    }
    if (method != HTTP_GET && method != HTTP_HEAD && method != HTTP_POST)
        SET(CURLOPT_CUSTOMREQUEST, http_method_name(method).ptr);
    if ((method == HTTP_POST || method == HTTP_PATCH) && !call->repeatable)
        SET(CURLOPT_FRESH_CONNECT, 1L);
    return all_set;
}

/* ---- the answer ---- */

static size_t receive_head(char *data, size_t size, size_t count, void *context)
{
    struct incoming *incoming = context;
    struct str line = {data, size * count};
    bool body_begun = incoming->bytes.len > incoming->head_length;
    if (incoming->head_complete && !body_begun && str_starts(line, STR("HTTP/"))) {
        buf_clear(&incoming->bytes); /* that was the head of a 100 or of a redirect */
        incoming->head_complete = false;
        incoming->head_length = 0;
    }
    if (incoming->head_complete)
        return line.len; /* trailers */
    incoming->too_large = line.len > ANSWER_HEAD_MAX - incoming->head_length;
    if (incoming->too_large || !buf_add(&incoming->bytes, line))
        return 0; /* ends the transfer */
    incoming->head_length += line.len;
    incoming->head_complete = str_eq(line, STR("\r\n")) || str_eq(line, STR("\n"));
    return line.len;
}

static size_t receive_body(char *data, size_t size, size_t count, void *context)
{
    struct incoming *incoming = context;
    struct str part = {data, size * count};
    size_t so_far = incoming->bytes.len - incoming->head_length;
    incoming->too_large = part.len > incoming->max_body - so_far;
    if (incoming->too_large || !buf_add(&incoming->bytes, part))
        return 0; /* ends the transfer */
    return part.len;
}

static bool set_receivers(CURL *easy, struct incoming *incoming)
{
    bool all_set = true;
    SET(CURLOPT_HEADERFUNCTION, receive_head);
    SET(CURLOPT_HEADERDATA, incoming);
    SET(CURLOPT_WRITEFUNCTION, receive_body);
    SET(CURLOPT_WRITEDATA, incoming);
    return all_set;
}

static void headers_parse(struct http_answer *answer, struct str head, struct arena *arena)
{
    size_t lines = 0;
    for (size_t i = 0; i < head.len; i++)
        lines += head.ptr[i] == '\n';
    answer->headers = ARENA_NEW_ARRAY(arena, struct http_header, lines);
    struct str line;
    while (str_split(&head, '\n', &line)) {
        ptrdiff_t colon = str_find_char(line, ':');
        if (colon <= 0 || str_starts(line, STR("HTTP/")))
            continue;
        struct str value = str_from_offset(line, (size_t)colon + 1);
        if (value.len && value.ptr[value.len - 1] == '\r')
            value.len--;
        answer->headers[answer->header_count++] =
            (struct http_header){.name = str_first(line, (size_t)colon), .value = str_trim(value)};
    }
}

/* The bytes belong to the loop while they are copied, because an exhausted arena jumps out of here and would leave
 * them behind. */
static void answer_give(struct http_answer *answer, struct local *local, struct incoming *incoming, struct arena *arena)
{
    buf_free(&local->last_answer);
    local->last_answer = incoming->bytes;
    struct str all = arena_copy(arena, buf_str(&local->last_answer));
    *answer =
        (struct http_answer){.status = (int)incoming->status, .body = str_from_offset(all, incoming->head_length)};
    headers_parse(answer, str_first(all, incoming->head_length), arena);
    buf_free(&local->last_answer);
}

struct str http_answer_header(const struct http_answer *answer, struct str name)
{
    return find_header(answer->headers, answer->header_count, name);
}

/* ---- the call ---- */

static enum http_call_outcome outcome_of(CURLcode result)
{
    switch (result) {
    case CURLE_OK: return HTTP_CALL_OK;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT: /* of connecting; libcurl is told no other timeout */
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION: return HTTP_CALL_UNREACHABLE;
    default: return HTTP_CALL_FAILED;
    }
}

/* host:port only, for the log: the rest of a URL may hold secrets. */
static struct str url_host(struct str url)
{
    struct str part, host = {NULL, 0};
    for (int i = 0; i < 3 && str_split(&url, '/', &part); i++)
        host = part;
    struct str rest = host;
    str_split(&rest, '?', &host);
    rest = host;
    while (str_split(&rest, '@', &part))
        host = part;
    return host;
}

static enum http_call_outcome run(struct local *local, CURL *easy, const struct http_call *call,
                                  struct incoming *incoming, int64_t deadline_ns)
{
    CURLcode result;
    switch (client_loop_run(local->curl, easy, deadline_ns, &result)) {
    case CLIENT_LOOP_BUSY: return HTTP_CALL_BUSY;
    case CLIENT_LOOP_DEADLINE: return HTTP_CALL_DEADLINE;
    case CLIENT_LOOP_DONE: break;
    }
    if (incoming->too_large)
        return HTTP_CALL_TOO_LARGE;
    if (result != CURLE_OK)
        log_warn("http call failed", LOG_STR("to", url_host(call->url)), LOG_C("reason", curl_easy_strerror(result)));
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &incoming->status);
    return outcome_of(result);
}

static int64_t call_deadline(const struct http_client *client, const struct http_call *call)
{
    int64_t timeout_ms = call->timeout_ms ? call->timeout_ms : client->options.timeout_ms;
    int64_t deadline = clock_mono_ns() + timeout_ms * NS_PER_MS;
    return task_deadline() && task_deadline() < deadline ? task_deadline() : deadline;
}

enum http_call_outcome http_call(struct http_client *client, const struct http_call *call, struct arena *arena,
                                 struct http_answer *answer)
{
    struct outgoing outgoing; /* first: the arena must not jump when something is to be freed */
    if (!outgoing_prepare(&outgoing, call, arena))
        return HTTP_CALL_FAILED;
    int64_t deadline_ns = call_deadline(client, call);
    if (deadline_ns <= clock_mono_ns())
        return HTTP_CALL_DEADLINE;
    struct local *local = local_get(client);
    CURL *easy = curl_easy_init();
    if (!local || !easy) {
        curl_easy_cleanup(easy);
        return HTTP_CALL_FAILED;
    }

    struct incoming incoming = {.bytes = BUF_INIT(ANSWER_HEAD_MAX + call->max_answer), .max_body = call->max_answer};
    enum http_call_outcome outcome = HTTP_CALL_FAILED;
    if (set_policy(easy, &client->options, call) && set_request(easy, call, &outgoing) &&
        set_receivers(easy, &incoming))
        outcome = run(local, easy, call, &incoming, deadline_ns);
    curl_easy_cleanup(easy);
    if (outcome == HTTP_CALL_OK)
        answer_give(answer, local, &incoming, arena);
    else
        buf_free(&incoming.bytes);
    return outcome;
}

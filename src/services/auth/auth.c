#include "services/auth/auth.h"

#include "services/app.h"
#include "services/auth/auth_internal.h"
#include "services/auth/google.h"
#include "services/auth/sweep.h"
#include "tables/config.h"

#include <stdlib.h>

struct auth {
    struct google *google;
    struct sweep *sweep;
};

struct auth *auth_create(const struct app *app)
{
    struct auth *auth = calloc(1, sizeof(*auth));
    if (!auth)
        return NULL;
    auth->google = google_create(app->settings->google_client_id, app->settings->google_jwks_url);
    auth->sweep = sweep_create(app->accounts, app->settings->login_history_days);
    if (!auth->google || !auth->sweep) {
        auth_destroy(auth);
        return NULL;
    }
    return auth;
}

void auth_destroy(struct auth *auth)
{
    if (auth->google)
        google_destroy(auth->google);
    if (auth->sweep)
        sweep_destroy(auth->sweep);
    free(auth);
}

void auth_loop_started(struct auth *auth, size_t index)
{
    if (index == 0)
        sweep_start(auth->sweep);
}

void auth_loop_stopping(struct auth *auth, size_t index)
{
    if (index == 0)
        sweep_stop(auth->sweep);
    google_close_loop(auth->google);
}

struct google *auth_google(struct auth *auth)
{
    return auth->google;
}

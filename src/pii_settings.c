#include "pii_settings.h"

struct pii *pii_open_from(const struct settings *settings)
{
    return pii_open(&(struct pii_settings){
        .keys = settings->pii_keys,
        .hash_key = settings->pii_hash_key,
        .directory = settings->database_url.len ? NULL : settings->data_dir.ptr,
    });
}

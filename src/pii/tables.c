#include "pii/tables.h"

const struct pii_table pii_tables[] = {
    {
        .service = "reservation_service",
        .table = "claims",
        .columns = {"user_name", "phone"},
        .row = {{.name = "house_id", .is_number = true}, {.name = "user_id"}},
        .was_plain = true,
    },
    {
        .service = "auth_service",
        .table = "users",
        .columns = {"email", "name", "phone", "ci"},
        .hashes = {"email_hash", NULL, "phone_hash", "ci_hash"},
        .row = {{.name = "id"}},
    },
    {
        .service = "auth_service",
        .table = "verified_identities",
        .columns = {"ci"},
        .hashes = {"ci_hash"},
        .row = {{.name = "id"}},
    },
};

const size_t pii_table_count = sizeof(pii_tables) / sizeof(pii_tables[0]);

#include "services/ticket/personal.h"

void personal_seal(const struct pii *pii, struct arena *arena, int64_t house, struct claim *claim)
{
    if (!claim->user_name.len && !claim->phone.len)
        return;
    /* The seat is not known yet; house and user name the row as well (the index claims_user). */
    struct str row = arena_format(arena, "%lld/%.*s", (long long)house, STR_ARG(claim->user));
    struct pii_place name = {.table = "claims", .column = "user_name", .row = row};
    struct pii_place phone = {.table = "claims", .column = "phone", .row = row};
    claim->user_name = pii_encrypt(pii, arena, name, claim->user_name);
    claim->phone = pii_encrypt(pii, arena, phone, claim->phone);
}

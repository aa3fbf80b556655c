/* E-mail addresses as people type them, and the one form in which they are kept and compared. */
#ifndef AUTH_EMAIL_H
#define AUTH_EMAIL_H

#include "base/arena.h"

enum { EMAIL_MAX = 254 };

/* Without blanks around it and in lower case. False when it is no address: then nobody could be reached by it. Only
 * ASCII, since two spellings of one address must not make two accounts. */
__attribute__((warn_unused_result)) bool email_normalize(struct arena *arena, struct str text, struct str *email);

#endif

/*
 * Secrets that a server without settings makes for itself, once: 32 random bytes as a line of base64 in the data
 * folder, readable by its owner only. A file that exists is never overwritten, even when several programs start at
 * once: all of them get the secret of the one that was first. Called by the main thread at start.
 */
#ifndef BASE_SECRET_FILE_H
#define BASE_SECRET_FILE_H

#include <stdbool.h>
#include <stdint.h>

enum { SECRET_BYTES = 32 };

/* Reads `directory`/`name`, after making it where there is none. False after logging why. The caller wipes `secret`. */
__attribute__((warn_unused_result)) bool secret_file_read(const char *directory, const char *name,
                                                          uint8_t secret[SECRET_BYTES]);

#endif

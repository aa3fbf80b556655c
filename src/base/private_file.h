/* Files that hold people's data or keys: readable and writable by their owner only, whatever the umask says. */
#ifndef BASE_PRIVATE_FILE_H
#define BASE_PRIVATE_FILE_H

#include <stdbool.h>

/* Creates the file, empty, where there is none. False with errno. It is not opened when it exists: closing it would
 * drop the locks that SQLite has on it. */
__attribute__((warn_unused_result)) bool private_file_create(const char *path);

/* Takes the rights of others away from a file that exists, and logs that they had some. */
void private_file_tighten(const char *path);

#endif

#include "http/static_files.h"

#include <stdlib.h>

static int compare_path(const void *key, const void *row)
{
    return str_compare(*(const struct str *)key, ((const struct static_file *)row)->path);
}

const struct static_file *static_file_find(struct str path)
{
    return bsearch(&path, static_files, static_files_count, sizeof(static_files[0]), compare_path);
}

#include "backup_manifest.h"

#include "base/json_write.h"

#include <limits.h>
#include <stdio.h>

enum { MANIFEST_MAX = 1 << 20, NAME_MAX_BYTES = 200, KEY_FILES_MAX = 64 };

static const struct json_field file_fields[] = {
    JSON_FIELD(struct copy_file, name, "name", .required = true, .min = 1, .max = NAME_MAX_BYTES),
    JSON_FIELD(struct copy_file, size, "size", .required = true, .min = 0, .max = INT64_MAX),
    JSON_FIELD(struct copy_file, sha256, "sha256", .required = true, .min = 64, .max = 64),
};
static const struct json_descriptor file_descriptor = JSON_DESCRIPTOR(struct copy_file, file_fields);

static const struct json_field table_fields[] = {
    JSON_FIELD(struct copy_table, name, "name", .required = true, .min = 1, .max = 63),
    JSON_FIELD(struct copy_table, columns, "columns", .required = true, .min = 1, .max = 63,
               .max_items = COPY_COLUMNS_MAX),
};
static const struct json_descriptor table_descriptor = JSON_DESCRIPTOR(struct copy_table, table_fields);

static const struct json_field sequence_fields[] = {
    JSON_FIELD(struct copy_sequence, name, "name", .required = true, .min = 1, .max = 63),
    JSON_FIELD(struct copy_sequence, value, "value", .required = true, .min = 1, .max = INT64_MAX),
};
static const struct json_descriptor sequence_descriptor = JSON_DESCRIPTOR(struct copy_sequence, sequence_fields);

static const struct json_field service_fields[] = {
    JSON_FIELD(struct copy_service, name, "name", .required = true, .min = 1, .max = 48),
    JSON_FIELD(struct copy_service, migrations, "migrations", .required = true, .min = 64, .max = 64,
               .max_items = COPY_MIGRATIONS_MAX),
    JSON_FIELD_OBJECTS(struct copy_service, tables, "tables", &table_descriptor, .max_items = COPY_TABLES_MAX),
    JSON_FIELD_OBJECTS(struct copy_service, sequences, "sequences", &sequence_descriptor, .max_items = COPY_TABLES_MAX),
};
static const struct json_descriptor service_descriptor = JSON_DESCRIPTOR(struct copy_service, service_fields);

static const struct json_field manifest_fields[] = {
    JSON_FIELD(struct backup_manifest, format, "format", .required = true, .min = 1, .max = INT32_MAX),
    JSON_FIELD(struct backup_manifest, program, "program", .required = true, .max = 64),
    JSON_FIELD(struct backup_manifest, taken_at, "takenAt", .required = true, .max = 64),
    JSON_FIELD(struct backup_manifest, database, "database", .required = true, .min = 1, .max = 16),
    JSON_FIELD(struct backup_manifest, keys, "keys", .required = true, .min = 1, .max = NAME_MAX_BYTES,
               .max_items = KEY_FILES_MAX),
    JSON_FIELD_OBJECTS(struct backup_manifest, copy.services, "services", &service_descriptor, .required = true,
                       .max_items = COPY_SERVICES_MAX),
    JSON_FIELD_OBJECTS(struct backup_manifest, copy.files, "files", &file_descriptor, .required = true,
                       .max_items = COPY_FILES_MAX),
};
static const struct json_descriptor manifest_descriptor = JSON_DESCRIPTOR(struct backup_manifest, manifest_fields);

static void write_strings(struct json_writer *json, const char *name, const struct json_strings *strings)
{
    json_key(json, name);
    json_begin_array(json);
    for (size_t i = 0; i < strings->count; i++)
        json_string(json, strings->items[i]);
    json_end_array(json);
}

static void write_service(struct json_writer *json, const struct copy_service *service)
{
    const struct copy_table *tables = service->tables.items;
    const struct copy_sequence *sequences = service->sequences.items;
    json_begin_object(json);
    json_member_string(json, "name", service->name);
    json_member_int(json, "schemaVersion", (int64_t)service->migrations.count);
    write_strings(json, "migrations", &service->migrations);
    json_key(json, "tables");
    json_begin_array(json);
    for (size_t i = 0; i < service->tables.count; i++) {
        json_begin_object(json);
        json_member_string(json, "name", tables[i].name);
        write_strings(json, "columns", &tables[i].columns);
        json_end_object(json);
    }
    json_end_array(json);
    json_key(json, "sequences");
    json_begin_array(json);
    for (size_t i = 0; i < service->sequences.count; i++) {
        json_begin_object(json);
        json_member_string(json, "name", sequences[i].name);
        json_member_int(json, "value", sequences[i].value);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

static void write_json(struct json_writer *json, const struct backup_manifest *manifest)
{
    const struct copy_service *services = manifest->copy.services.items;
    const struct copy_file *files = manifest->copy.files.items;
    json_begin_object(json);
    json_member_int(json, "format", manifest->format);
    json_member_string(json, "program", manifest->program);
    json_member_string(json, "takenAt", manifest->taken_at);
    json_member_string(json, "database", manifest->database);
    write_strings(json, "keys", &manifest->keys);
    json_key(json, "services");
    json_begin_array(json);
    for (size_t i = 0; i < manifest->copy.services.count; i++)
        write_service(json, &services[i]);
    json_end_array(json);
    json_key(json, "files");
    json_begin_array(json);
    for (size_t i = 0; i < manifest->copy.files.count; i++) {
        json_begin_object(json);
        json_member_string(json, "name", files[i].name);
        json_member_int(json, "size", files[i].size);
        json_member_string(json, "sha256", files[i].sha256);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

bool backup_manifest_write(const struct backup_manifest *manifest, const char *folder)
{
    char path[PATH_MAX];
    struct buf text = BUF_INIT(MANIFEST_MAX);
    struct json_writer json = json_write_to(&text);
    struct summed_file file;
    struct file_sum sum;
    write_json(&json, manifest);
    buf_add_char(&text, '\n');
    bool good = !text.failed && (size_t)snprintf(path, sizeof(path), "%s/manifest.json", folder) < sizeof(path);
    if (good) {
        good = summed_file_create(&file, path) && summed_file_write(&file, text.data, text.len);
        good = summed_file_finish(&file, good, &sum);
    }
    buf_free(&text);
    return good;
}

static bool take_text(void *context, const void *bytes, size_t size)
{
    return buf_add(context, str_make(bytes, size));
}

static bool refuse(const char *folder, const char *what, struct str name)
{
    fprintf(stderr, "tickettock: %s cannot be restored: %s%s%.*s.\n", folder, what, name.len ? " " : "", STR_ARG(name));
    return false;
}

/* Names of files are names in the folder, and nothing else. */
static bool file_is_whole(const char *folder, const struct copy_file *file)
{
    char path[PATH_MAX];
    struct file_sum sum;
    if (str_find_char(file->name, '/') >= 0 || str_starts(file->name, STR(".")))
        return refuse(folder, "the manifest names a file outside of it:", file->name);
    if ((size_t)snprintf(path, sizeof(path), "%s/%.*s", folder, STR_ARG(file->name)) >= sizeof(path) ||
        !summed_file_read(path, NULL, NULL, &sum))
        return refuse(folder, "this file cannot be read:", file->name);
    if (sum.size != file->size)
        return refuse(folder, "this file has another size than when it was written:", file->name);
    if (!str_eq(str_from(sum.sha256), file->sha256))
        return refuse(folder, "this file is not the one that was written, its SHA-256 differs:", file->name);
    return true;
}

static bool read_text(struct buf *text, const char *folder)
{
    char path[PATH_MAX];
    struct file_sum sum;
    return (size_t)snprintf(path, sizeof(path), "%s/manifest.json", folder) < sizeof(path) &&
           summed_file_read(path, take_text, text, &sum);
}

bool backup_manifest_read(struct backup_manifest *manifest, const char *folder, struct arena *arena)
{
    struct json_problem problem;
    struct buf text = BUF_INIT(MANIFEST_MAX);
    *manifest = (struct backup_manifest){0};
    bool read = read_text(&text, folder);
    struct str body = arena_copy(arena, buf_str(&text));
    buf_free(&text);
    if (!read)
        return refuse(folder, "it has no readable manifest.json, so it is no whole backup", STR(""));
    if (!json_read(body, &manifest_descriptor, manifest, arena, &problem))
        return refuse(folder, "its manifest.json is damaged:", problem.message);
    if (manifest->format != BACKUP_FORMAT)
        return refuse(folder, "it has a format that this version does not know; it was made by version",
                      manifest->program);
    const struct copy_file *files = manifest->copy.files.items;
    for (size_t i = 0; i < manifest->copy.files.count; i++)
        if (!file_is_whole(folder, &files[i]))
            return false;
    return true;
}

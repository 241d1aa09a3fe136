#define _GNU_SOURCE  // RTLD_DEFAULT
#include "CIndexStore.h"

#include <dlfcn.h>

const char *index_store_load(const char *path, IndexFunctions *functions) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return "the library";
    const struct {
        void **slot;
        const char *name;
    } wanted[] = {
        {(void **)&functions->store_create, "indexstore_store_create"},
        {(void **)&functions->store_dispose, "indexstore_store_dispose"},
        {(void **)&functions->units_apply, "indexstore_store_units_apply_f"},
        {(void **)&functions->unit_create, "indexstore_unit_reader_create"},
        {(void **)&functions->unit_dispose, "indexstore_unit_reader_dispose"},
        {(void **)&functions->unit_is_system, "indexstore_unit_reader_is_system_unit"},
        {(void **)&functions->unit_dependencies, "indexstore_unit_reader_dependencies_apply_f"},
        {(void **)&functions->dependency_kind, "indexstore_unit_dependency_get_kind"},
        {(void **)&functions->dependency_name, "indexstore_unit_dependency_get_name"},
        {(void **)&functions->dependency_is_system, "indexstore_unit_dependency_is_system"},
        {(void **)&functions->dependency_file, "indexstore_unit_dependency_get_filepath"},
        {(void **)&functions->record_create, "indexstore_record_reader_create"},
        {(void **)&functions->record_dispose, "indexstore_record_reader_dispose"},
        {(void **)&functions->occurrences, "indexstore_record_reader_occurrences_apply_f"},
        {(void **)&functions->occurrence_symbol, "indexstore_occurrence_get_symbol"},
        {(void **)&functions->occurrence_roles, "indexstore_occurrence_get_roles"},
        {(void **)&functions->occurrence_position, "indexstore_occurrence_get_line_col"},
        {(void **)&functions->relations, "indexstore_occurrence_relations_apply_f"},
        {(void **)&functions->relation_roles, "indexstore_symbol_relation_get_roles"},
        {(void **)&functions->relation_symbol, "indexstore_symbol_relation_get_symbol"},
        {(void **)&functions->symbol_name, "indexstore_symbol_get_name"},
        {(void **)&functions->symbol_usr, "indexstore_symbol_get_usr"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].slot = dlsym(library, wanted[i].name);
        if (!*wanted[i].slot) return wanted[i].name;
    }
    return 0;
}

typedef char *(*Demangle)(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags);

char *index_store_demangle(const char *name, size_t length) {
    Demangle demangle = (Demangle)dlsym(RTLD_DEFAULT, "swift_demangle");
    return demangle ? demangle(name, length, 0, 0, 0) : 0;
}

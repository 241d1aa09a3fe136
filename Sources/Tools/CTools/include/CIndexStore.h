// The declarations of libIndexStore that are used (format 5, API 0.11 and later). The library comes with each toolchain
// and is loaded at run time, so that nothing is linked and its absence is no error.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A text that the library owns, not terminated.
typedef struct {
    const char *data;
    size_t length;
} IndexString;

/// A store, a unit, a dependency, a record, an occurrence, a relation, or a symbol.
typedef void *IndexReference;

/// Takes one name of a unit. Returns false to stop.
typedef bool (*IndexNameVisitor)(void *context, IndexString name);
/// Takes one item. Returns false to stop.
typedef bool (*IndexVisitor)(void *context, IndexReference item);

/// The functions of the library. None is null after `index_store_load` has returned null.
typedef struct {
    IndexReference (*store_create)(const char *path, IndexReference *error);
    void (*store_dispose)(IndexReference);
    bool (*units_apply)(IndexReference store, unsigned sorted, void *context, IndexNameVisitor);
    IndexReference (*unit_create)(IndexReference store, const char *name, IndexReference *error);
    void (*unit_dispose)(IndexReference);
    bool (*unit_is_system)(IndexReference);
    bool (*unit_dependencies)(IndexReference, void *context, IndexVisitor);
    int (*dependency_kind)(IndexReference);
    IndexString (*dependency_name)(IndexReference);
    bool (*dependency_is_system)(IndexReference);
    IndexString (*dependency_file)(IndexReference);
    IndexReference (*record_create)(IndexReference store, const char *name, IndexReference *error);
    void (*record_dispose)(IndexReference);
    bool (*occurrences)(IndexReference, void *context, IndexVisitor);
    IndexReference (*occurrence_symbol)(IndexReference);
    uint64_t (*occurrence_roles)(IndexReference);
    void (*occurrence_position)(IndexReference, unsigned *line, unsigned *column);
    bool (*relations)(IndexReference, void *context, IndexVisitor);
    uint64_t (*relation_roles)(IndexReference);
    IndexReference (*relation_symbol)(IndexReference);
    IndexString (*symbol_name)(IndexReference);
    IndexString (*symbol_usr)(IndexReference);
} IndexFunctions;

/// Loads the library at `path` and looks its functions up. Returns null, or the name of what is missing.
const char *index_store_load(const char *path, IndexFunctions *functions);

/// The readable form of a mangled Swift name, to be freed by the caller; null if it is none. From the Swift runtime.
char *index_store_demangle(const char *name, size_t length);

#define _GNU_SOURCE
#include "CTaskDump.h"
#include <string.h>

// Reads line tables: DWARF versions 2 to 5, sections 6.2 and 7.22 of the standard. The reader of the module Runtime runs the
// programs of all files once for each address, which takes 15 s for 20 addresses of a test program of 150 MB.

#if !(defined(__linux__) && defined(__LP64__))
void taskDumpFindLines(TaskDumpLine *lines, size_t count) {}
#else
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/// Bytes with a position. A read after the end returns 0, and leaves the position at the end.
typedef struct {
    const uint8_t *next, *end;
} Reader;

static uint64_t number(Reader *reader, int size) {
    uint64_t value = 0;
    if (reader->end - reader->next < size) return reader->next = reader->end, 0;
    memcpy(&value, reader->next, size);  // Both architectures are little-endian.
    reader->next += size;
    return value;
}

static uint64_t variable(Reader *reader, int isSigned) {
    uint64_t value = 0;
    int shift = 0;
    while (reader->next < reader->end) {
        uint8_t byte = *reader->next++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7F) << shift;
        shift += 7;
        if (byte & 0x80) continue;
        if (isSigned && byte & 0x40 && shift < 64) value |= ~(uint64_t)0 << shift;
        break;
    }
    return value;
}

static const char *text(Reader *reader) {
    const void *end = memchr(reader->next, 0, reader->end - reader->next);
    const char *start = (const char *)reader->next;
    reader->next = end ? (const uint8_t *)end + 1 : reader->end;
    return end ? start : "";
}

static void skip(Reader *reader, uint64_t count) {
    reader->next = count < (uint64_t)(reader->end - reader->next) ? reader->next + count : reader->end;
}

// MARK: - One unit

typedef struct {
    Reader table, lineStrings, strings;
} Sections;

static const char *textAt(Reader section, uint64_t offset) {
    skip(&section, offset);
    return text(&section);
}

typedef struct {
    Sections sections;
    int version, offsetSize;
    uint8_t minimumLength, lineRange, opcodeBase;
    int8_t lineBase;
    uint8_t lengths[256];
    /// The names of files, in memory of the table.
    const char **files;
    size_t fileCount;
} Unit;

static void addFile(Unit *unit, const char *name) {
    if (unit->fileCount % 64 == 0) {
        const char **larger = realloc(unit->files, (unit->fileCount + 64) * sizeof *larger);
        if (!larger) return;
        unit->files = larger;
    }
    unit->files[unit->fileCount++] = name;
}

/// Reads one value of a form that a table of files can have. Only names are kept.
static const char *formValue(Unit *unit, Reader *reader, uint64_t form) {
    enum { data2 = 0x05, data4 = 0x06, data8 = 0x07, string = 0x08, block = 0x09, data1 = 0x0B, strp = 0x0E, udata = 0x0F, data16 = 0x1E, lineStrp = 0x1F };
    switch (form) {
    case string: return text(reader);
    case lineStrp: return textAt(unit->sections.lineStrings, number(reader, unit->offsetSize));
    case strp: return textAt(unit->sections.strings, number(reader, unit->offsetSize));
    case data1: skip(reader, 1); break;
    case data2: skip(reader, 2); break;
    case data4: skip(reader, 4); break;
    case data8: skip(reader, 8); break;
    case data16: skip(reader, 16); break;
    case udata: variable(reader, 0); break;
    case block: skip(reader, variable(reader, 0)); break;
    default: reader->next = reader->end;  // An unknown form has no known length.
    }
    return "";
}

/// Reads the folders or the files of version 5.
static void readEntries(Unit *unit, Reader *reader, int areFiles) {
    struct {
        uint64_t content, form;
    } formats[256];
    size_t formatCount = number(reader, 1);
    for (size_t index = 0; index < formatCount; index++)
        formats[index].content = variable(reader, 0), formats[index].form = variable(reader, 0);
    uint64_t count = variable(reader, 0);
    for (uint64_t entry = 0; entry < count && formatCount > 0 && reader->next < reader->end; entry++) {
        const char *name = "";
        for (size_t index = 0; index < formatCount; index++) {
            const char *value = formValue(unit, reader, formats[index].form);
            if (formats[index].content == 1) name = value;
        }
        if (areFiles) addFile(unit, name);
    }
}

static void readFiles(Unit *unit, Reader *reader) {
    if (unit->version >= 5) {
        readEntries(unit, reader, 0);
        readEntries(unit, reader, 1);
        return;
    }
    while (*text(reader)) {}
    addFile(unit, "");  // The first file has the number 1.
    for (const char *name = text(reader); *name; name = text(reader)) {
        addFile(unit, name);
        for (int value = 0; value < 3; value++) variable(reader, 0);
    }
}

// MARK: - Rows

typedef struct {
    uint64_t address, file, line;
} Row;

/// The addresses to find in one image, in ascending order.
typedef struct {
    TaskDumpLine **lines;
    size_t count;
    uintptr_t bias;
} Targets;

/// Gives the addresses of a row, which end where the next row begins, its file and line.
static void assign(const Unit *unit, const Targets *targets, Row row, uint64_t end) {
    if (!row.line || row.file >= unit->fileCount || row.address >= end) return;
    size_t low = 0, high = targets->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (targets->lines[middle]->address - targets->bias < row.address) low = middle + 1;
        else high = middle;
    }
    for (; low < targets->count && targets->lines[low]->address - targets->bias < end; low++) {
        TaskDumpLine *line = targets->lines[low];
        if (line->line) continue;
        const char *name = unit->files[row.file], *slash = strrchr(name, '/');
        strncpy(line->file, slash ? slash + 1 : name, sizeof line->file - 1);
        line->line = row.line > UINT32_MAX ? UINT32_MAX : (uint32_t)row.line;
    }
}

static void runProgram(Unit *unit, Reader program, const Targets *targets) {
    const Row first = {0, 1, 1};
    Row row = first, former = first;
    int hasFormer = 0;
#define EMIT() \
    do { \
        if (hasFormer) assign(unit, targets, former, row.address); \
        former = row, hasFormer = former.address != 0; \
    } while (0)
    while (program.next < program.end) {
        uint8_t opcode = *program.next++;
        if (opcode >= unit->opcodeBase) {
            int adjusted = opcode - unit->opcodeBase, range = unit->lineRange ? unit->lineRange : 1;
            row.address += (uint64_t)(adjusted / range) * unit->minimumLength;
            row.line += unit->lineBase + adjusted % range;
            EMIT();
            continue;
        }
        switch (opcode) {
        case 0: {  // An extended opcode.
            uint64_t length = variable(&program, 0);
            Reader rest = program;
            skip(&program, length);
            rest.end = program.next;
            switch (number(&rest, 1)) {
            case 1:  // The end of a sequence.
                EMIT();
                row = first, hasFormer = 0;
                break;
            case 2: row.address = number(&rest, 8); break;
            case 3: addFile(unit, text(&rest)); break;
            }
            break;
        }
        case 1: EMIT(); break;
        case 2: row.address += variable(&program, 0) * unit->minimumLength; break;
        case 3: row.line += variable(&program, 1); break;
        case 4: row.file = variable(&program, 0); break;
        case 8: {
            int range = unit->lineRange ? unit->lineRange : 1;
            row.address += (uint64_t)((255 - unit->opcodeBase) / range) * unit->minimumLength;
            break;
        }
        case 9: row.address += number(&program, 2); break;
        default:
            for (int operand = 0; operand < unit->lengths[opcode]; operand++) variable(&program, 0);
        }
    }
#undef EMIT
}

static void readUnit(Sections sections, Reader reader, int offsetSize, const Targets *targets) {
    Unit unit = {.sections = sections, .offsetSize = offsetSize};
    unit.version = (int)number(&reader, 2);
    if (unit.version < 2 || unit.version > 5) return;
    if (unit.version >= 5) skip(&reader, 2);
    uint64_t length = number(&reader, offsetSize);
    Reader program = reader;
    skip(&program, length);
    unit.minimumLength = (uint8_t)number(&reader, 1);
    skip(&reader, unit.version >= 4 ? 2 : 1);
    unit.lineBase = (int8_t)number(&reader, 1);
    unit.lineRange = (uint8_t)number(&reader, 1);
    unit.opcodeBase = (uint8_t)number(&reader, 1);
    for (int opcode = 1; opcode < unit.opcodeBase; opcode++) unit.lengths[opcode] = (uint8_t)number(&reader, 1);
    readFiles(&unit, &reader);
    runProgram(&unit, program, targets);
    free(unit.files);
}

// MARK: - Images

/// Reads a part of a file. Another process may change the file, so its memory is not mapped.
static Reader readPart(int file, uint64_t offset, uint64_t size) {
    uint8_t *bytes = size && size < (uint64_t)1 << 32 ? malloc(size) : 0;
    uint64_t count = 0;
    while (bytes && count < size) {
        ssize_t part = pread(file, bytes + count, size - count, (off_t)(offset + count));
        if (part <= 0) break;
        count += part;
    }
    if (count == size && bytes) return (Reader){bytes, bytes + size};
    free(bytes);
    return (Reader){0, 0};
}

static void readImage(const char *path, const Targets *targets) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    Elf64_Ehdr head;
    if (file < 0) return;
    if (pread(file, &head, sizeof head, 0) == sizeof head && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
        head.e_shentsize == sizeof(Elf64_Shdr)) {
        Reader table = readPart(file, head.e_shoff, (uint64_t)head.e_shnum * sizeof(Elf64_Shdr));
        const Elf64_Shdr *parts = (const Elf64_Shdr *)table.next;
        Reader names = {0, 0};
        if (parts && head.e_shstrndx < head.e_shnum)
            names = readPart(file, parts[head.e_shstrndx].sh_offset, parts[head.e_shstrndx].sh_size);
        Sections sections = {{0, 0}, {0, 0}, {0, 0}};
        for (int index = 0; names.next && index < head.e_shnum; index++) {
            const char *name = textAt(names, parts[index].sh_name);
            Reader *section = !strcmp(name, ".debug_line")       ? &sections.table
                              : !strcmp(name, ".debug_line_str") ? &sections.lineStrings
                              : !strcmp(name, ".debug_str")      ? &sections.strings
                                                                 : 0;
            // Compressed sections are not read.
            if (section && !section->next && !(parts[index].sh_flags & SHF_COMPRESSED))
                *section = readPart(file, parts[index].sh_offset, parts[index].sh_size);
        }
        for (Reader reader = sections.table; reader.next < reader.end;) {
            uint64_t length = number(&reader, 4);
            int offsetSize = length == 0xFFFFFFFF ? 8 : 4;
            if (offsetSize == 8) length = number(&reader, 8);
            Reader unit = reader;
            skip(&reader, length);
            unit.end = reader.next;
            readUnit(sections, unit, offsetSize, targets);
        }
        free((void *)sections.table.next), free((void *)sections.lineStrings.next), free((void *)sections.strings.next);
        free((void *)names.next), free((void *)table.next);
    }
    close(file);
}

typedef struct {
    TaskDumpLine **lines;
    size_t count;
    char (*paths)[4096];
    Targets *images;
    size_t imageCount;
} Search;

enum { imageLimit = 64 };

/// Notes the images that contain sought addresses. The files are read later: the loader holds a lock now.
static int noteImage(struct dl_phdr_info *image, size_t size, void *argument) {
    Search *search = argument;
    if (search->imageCount == imageLimit) return 1;
    for (int index = 0; index < image->dlpi_phnum; index++) {
        const Elf64_Phdr *part = &image->dlpi_phdr[index];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        uintptr_t start = image->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        size_t low = 0, high;
        while (low < search->count && search->lines[low]->address < start) low++;
        for (high = low; high < search->count && search->lines[high]->address < end;) high++;
        if (low == high) continue;
        size_t number = search->imageCount++;
        strncpy(search->paths[number], *image->dlpi_name ? image->dlpi_name : "/proc/self/exe", 4095);
        search->images[number] = (Targets){search->lines + low, high - low, image->dlpi_addr};
        if (search->imageCount == imageLimit) return 1;
    }
    return 0;
}

static int compare(const void *one, const void *other) {
    uintptr_t first = (*(TaskDumpLine *const *)one)->address, second = (*(TaskDumpLine *const *)other)->address;
    return first < second ? -1 : first > second;
}

void taskDumpFindLines(TaskDumpLine *lines, size_t count) {
    TaskDumpLine **sorted = calloc(count + 1, sizeof *sorted);
    char(*paths)[4096] = calloc(imageLimit, sizeof *paths);
    Targets *images = calloc(imageLimit, sizeof *images);
    if (sorted && paths && images) {
        for (size_t index = 0; index < count; index++) sorted[index] = &lines[index];
        qsort(sorted, count, sizeof *sorted, compare);
        Search search = {.lines = sorted, .count = count, .paths = paths, .images = images};
        dl_iterate_phdr(noteImage, &search);
        for (size_t index = 0; index < search.imageCount; index++) readImage(paths[index], &images[index]);
    }
    free(sorted), free(paths), free(images);
}
#endif

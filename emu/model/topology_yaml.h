/* YAML text to a tree of doc_node. The only file that knows libfyaml. */
#ifndef EMU_MODEL_TOPOLOGY_YAML_H
#define EMU_MODEL_TOPOLOGY_YAML_H

#include "emu/model/doc.h"

/* The one document of the text, or NULL with an error in d. Refused, each with its place: text that is not UTF-8, an empty
 * file, a second document, anchors, aliases, merge keys, tags, keys that are no plain words, doubled keys, deep nesting. */
struct doc_node *topology_yaml_read(struct topo_arena *a, const char *text, size_t size, struct diag *d);

#endif

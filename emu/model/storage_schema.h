/* The keys of `storage:` of a NAS, a part of the schema. */
#ifndef EMU_MODEL_STORAGE_SCHEMA_H
#define EMU_MODEL_STORAGE_SCHEMA_H

#include "emu/model/schema.h"

extern const struct schema_key storage_schema_keys[];   /* of `storage:` */
extern const struct schema_key storage_schema_device[]; /* a device among the presets: a part of the keys of a group */
extern const struct schema_key storage_schema_presets;  /* the file of presets */

#endif

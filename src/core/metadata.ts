/** Metadata of a membership: a JSON object that an application's own systems keep about a user. */

export type Metadata = { readonly [key: string]: unknown };

/** Bytes of compact JSON in UTF-8. */
export const MAX_METADATA_BYTES = 4096;

/** Applies a JSON Merge Patch (RFC 7396): objects are merged, null removes a key, anything else replaces. */
export function mergePatch(target: unknown, patch: Metadata): Metadata {
  // A map and `fromEntries` create plain properties, even one called `__proto__`.
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, isObject(value) ? mergePatch(merged.get(key), value) : value);
  }
  return Object.fromEntries(merged);
}

/** Adds the keys that are missing; present ones stay. */
export function filledMetadata(present: Metadata | null, offered: Metadata): Metadata {
  return Object.fromEntries([...Object.entries(mergePatch({}, offered)), ...Object.entries(present ?? {})]);
}

/** Returns what is stored: null for an empty object. */
export function storedMetadata(metadata: Metadata): Metadata | null {
  return Object.keys(metadata).length === 0 ? null : metadata;
}

export function isTooLarge(metadata: Metadata): boolean {
  return Buffer.byteLength(JSON.stringify(metadata)) > MAX_METADATA_BYTES;
}

function isObject(value: unknown): value is Metadata {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

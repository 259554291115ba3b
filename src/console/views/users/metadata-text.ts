/** Metadata as text that is edited: parsed with the position of an error, and sent as a JSON Merge Patch (RFC 7396). */

export type Metadata = Readonly<Record<string, unknown>>;

export function textOfMetadata(metadata: Metadata): string {
  return Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata, null, 2);
}

/** @returns the object, empty for a blank text, or what is wrong and where. */
export function metadataIn(text: string): { readonly metadata: Metadata } | { readonly problem: string } {
  if (text.trim() === '') return { metadata: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { metadata: value };
    return { problem: 'Metadata is a JSON object, such as {"plan": "pro"}.' };
  } catch {
    const lines = text.slice(0, errorOffset(text)).split('\n');
    return { problem: `This is no valid JSON: see line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}.` };
  }
}

const SPACE = /\s*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const SCALAR = new RegExp(`${STRING.source}|-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?|true|false|null`, 'y');

/** Returns the offset of the first part that JSON does not allow there. Browsers do not name it reliably. */
function errorOffset(text: string): number {
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const isFound = pattern.test(text);
    if (isFound) at = pattern.lastIndex;
    return isFound;
  };
  const takeList = (item: () => boolean, end: RegExp): boolean => {
    take(SPACE);
    if (take(end)) return true;
    do if (!item()) return false;
    while (take(/,/y));
    return take(end);
  };
  const takeMember = (): boolean => {
    take(SPACE);
    if (!take(STRING)) return false;
    take(SPACE);
    return take(/:/y) && takeValue();
  };
  const takeValue = (): boolean => {
    take(SPACE);
    const isTaken = take(/\{/y) ? takeList(takeMember, /\}/y) : take(/\[/y) ? takeList(takeValue, /\]/y) : take(SCALAR);
    if (isTaken) take(SPACE);
    return isTaken;
  };
  takeValue();
  return at;
}

/** Returns the patch that makes one object of the other, without touching equal keys. */
export function patchBetween(before: Metadata, after: Metadata): Metadata {
  const patch: [string, unknown][] = Object.keys(before).flatMap((key) => (key in after ? [] : [[key, null]]));
  for (const [key, value] of Object.entries(after)) {
    const present = before[key];
    if (JSON.stringify(present) === JSON.stringify(value)) continue;
    patch.push([key, isObject(present) && isObject(value) ? patchBetween(present, value) : value]);
  }
  return Object.fromEntries(patch);
}

function isObject(value: unknown): value is Metadata {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Finds where hand-written text stops being valid JSON, because the parser does not report the position. */

const SPACE = /[ \t\n\r]*/y;
const VALUE =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const KEY = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** Returns `line 3, column 7`; null for valid JSON. */
export function placeOfJsonError(text: string): string | null {
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const is = (sign: string) => {
    take(SPACE);
    if (text[at] !== sign) return false;
    at += 1;
    return true;
  };
  /** Open brackets, innermost last. */
  const open: ('{' | '[')[] = [];
  /** Consumes the key and colon before a value inside an object. */
  const member = () => open.at(-1) !== '{' || (take(SPACE), take(KEY) && is(':'));
  const isSound = () => {
    for (;;) {
      take(SPACE);
      const sign = text[at];
      if (sign === '{' || sign === '[') {
        at += 1;
        open.push(sign);
        if (!is(sign === '{' ? '}' : ']')) {
          if (!member()) return false;
          continue;
        }
        open.pop();
      } else if (!take(VALUE)) return false;
      while (open.length > 0 && is(open.at(-1) === '{' ? '}' : ']')) open.pop();
      take(SPACE);
      if (open.length === 0) return at === text.length;
      if (!is(',') || !member()) return false;
    }
  };
  if (isSound()) return null;
  const before = text.slice(0, at).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** Finds where text stops being valid JSON, because `JSON.parse` does not report the position. */
import { parse, type ParseError } from 'jsonc-parser';

/** Returns `line 3, column 7`; null for valid JSON. */
export function jsonErrorPosition(text: string): string | null {
  const errors: ParseError[] = [];
  parse(text, errors, { disallowComments: true });
  const [first] = errors;
  if (!first) return null;
  const before = text.slice(0, first.offset).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

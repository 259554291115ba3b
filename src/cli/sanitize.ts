/** Characters that control a terminal, break lines or change text direction. */
const CONTROL_CHARACTERS = '\\p{Cc}\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069';
const CONTROL_RUNS = new RegExp(`[${CONTROL_CHARACTERS}]+`, 'gu');
const EACH_CONTROL_CHARACTER = new RegExp(`(?!\\n)[${CONTROL_CHARACTERS}]`, 'gu');

/** Replaces control characters with spaces: names, addresses and server messages are untrusted. */
export function printable(text: string): string {
  return text.replace(CONTROL_RUNS, ' ');
}

export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** Returns JSON with terminal control characters escaped; it parses to the same data. */
export function jsonText(data: unknown, indent?: number): string {
  const escape = (part: string) => `\\u${part.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(data, null, indent).replace(EACH_CONTROL_CHARACTER, escape);
}
